"""Produces that look like the one before are answered as if each had been read in full."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.handlers import produce as produce_handler
from tests.dataplane.handlers.one_broker import OneBroker, batch
from tests.dataplane.handlers.one_connection import (
    OneConnection,
    correlation_ids,
    logged,
    produce,
    request,
    sized,
    to_t,
)

VERSIONS = range(7, 12)


@pytest.fixture
def parsed(monkeypatch) -> list[int]:
    """How many requests were read in full: one entry each."""
    seen: list[int] = []
    parse = produce_handler.parse_produce

    def counted(version, frame, position):
        seen.append(version)
        return parse(version, frame, position)

    monkeypatch.setattr(produce_handler, "parse_produce", counted)
    return seen


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("stamps", ["CreateTime", "LogAppendTime"])
@pytest.mark.parametrize(
    ("topic", "index"), [("t", 0), ("x" * 126, 3), ("y" * 127, 1), ("z" * 249, 2)]
)
async def test_a_route_answers_to_the_byte(
    version: int, stamps: str, topic: str, index: int, parsed: list[int]
) -> None:
    brokers = [OneBroker(log_message_timestamp_type=stamps) for _ in range(2)]
    ids = (0, 1, -1, (1 << 31) - 1, -(1 << 31), 5, 6, 7)
    answers = []
    for broker, routes in zip(brokers, (True, False), strict=True):
        broker.topic(topic, partitions=4)
        connection = OneConnection(broker, routes=routes)
        found = []
        for number, at in enumerate(ids):
            if number == 5:
                broker.partition(topic, index).log.delete_records_before(3)
            # Sizes on both sides of where the length of the records takes another byte.
            records = batch(*"ab"[: number % 2 + 1], "v" * (number * 29))
            data = request(produce((topic, index, records)), version, at)
            connection.read(data)
            found += connection.take()
        answers.append(found)
        assert correlation_ids(found) == list(ids)
        if routes:
            assert len(parsed) <= 3, "the route was not taken"
    assert answers[0] == answers[1]
    assert logged(brokers[0], topic, index) == logged(brokers[1], topic, index)
    for broker in brokers:
        await broker.stop()


VARIANTS = {
    "trailing": lambda frame: frame + b"\0",
    "trailing records": lambda frame: frame + batch("more"),
    "cut": lambda frame: frame[:-1],
    "cut far": lambda frame: frame[:20],
    "prefix alone": lambda frame: frame[: len(frame) - len(batch("c")) - 8],
    "zeros": lambda frame: frame[: len(frame) - len(batch("c")) - 8] + bytes(3),
    "other version": lambda frame: frame[:3] + bytes([frame[3] ^ 1]) + frame[4:],
    "other API": lambda frame: b"\0\3" + frame[2:],
    "damaged": lambda frame: frame[:-5] + bytes([frame[-5] ^ 1]) + frame[-4:],
}


async def both_ways(version: int, frames: list[bytes]) -> None:
    """The frames, after two that make a route: the same answers and log without it."""
    seen = []
    for routes in (True, False):
        broker = OneBroker()
        broker.topic("t", partitions=2)
        connection = OneConnection(broker, routes=routes)
        for at in (1, 2):
            connection.read(to_t(batch("a"), version=version, at=at))
        for frame in frames:
            connection.read(frame)
        connection.read(to_t(batch("z"), version=version, at=3))
        answers = await connection.settle()
        seen.append((answers, connection.is_over, logged(broker), logged(broker, "t", 1)))
        await broker.stop()
    assert seen[0] == seen[1]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("variant", VARIANTS)
async def test_frames_that_begin_like_the_route(version: int, variant: str) -> None:
    frame = to_t(batch("c"), version=version, at=4)[4:]
    await both_ways(version, [sized(VARIANTS[variant](frame))])


@pytest.mark.parametrize("version", VERSIONS)
async def test_requests_that_differ_from_the_route(version: int) -> None:
    for records in (None, b"", b"short", batch("c") + batch("d"), batch("c")[:-1]):
        await both_ways(version, [to_t(records, version=version)])
    for message in (
        produce(("t", 1, batch("c"))),
        produce(("t", 0, batch("c")), acks=-1),
        produce(("t", 0, batch("c")), acks=0),
        produce(("t", 0, batch("c")), acks=2),
        produce(("t", 0, batch("c")), ("t", 1, batch("d"))),
        produce(("t", 0, batch("c")), ("t", 0, batch("d"))),
        produce(("t", 0, batch("c")), txn="mine"),
        produce(("u", 0, batch("c"))),
        produce(),
    ):
        await both_ways(version, [request(message, version, 4)])
    await both_ways(version, [request(produce(("t", 0, batch("c"))), version, 4, "another")])


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_frame_whose_end_looks_like_records_makes_no_route(version: int) -> None:
    """A length and a batch behind the request: only what is read counts."""
    read = batch("a", base_offset=2, leader_epoch=0)  # as it is once it has its place in the log
    length = len(read).to_bytes(4, "big") if version < 9 else bytes([len(read) + 1])
    frames = [
        sized(
            to_t(read, version=version)[4:]
            + length
            + batch(value)
            + (b"" if version < 9 else bytes(3))
        )
        for value in "bbcd"
    ]
    await both_ways(version, frames)


@settings(max_examples=150, deadline=None)
@given(
    version=st.sampled_from(list(VERSIONS)),
    edits=st.lists(
        st.tuples(
            st.integers(0, 400), st.sampled_from(["set", "insert", "delete"]), st.integers(0, 255)
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_whatever_frame_comes_by_a_route(version: int, edits: list[tuple[int, str, int]]) -> None:
    frame = bytearray(to_t(batch("c"), version=version, at=4)[4:])
    for place, kind, value in edits:
        at = place % len(frame)
        if kind == "set":
            frame[at] = value
        elif kind == "insert":
            frame.insert(at, value)
        else:
            del frame[at]
    asyncio.run(both_ways(version, [sized(bytes(frame))]))
