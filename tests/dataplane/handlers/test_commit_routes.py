"""OffsetCommits that look like the one before are answered as if each had been read in full."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.handlers import offset_commit
from dataplane.handlers.commit_route import ROUTE_BYTES_MAX
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from dataplane.wire.codec import decode
from dataplane.wire.headers import parse_response_header
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.dataplane.handlers.one_broker import OneBroker
from tests.dataplane.handlers.one_connection import OneConnection, request
from tests.waiting import until

VERSIONS = range(10)


@pytest.fixture
def read_in_full(monkeypatch) -> list[int]:
    """One entry for each request that was."""
    seen: list[int] = []
    read = offset_commit.decode

    def counted(cls, version, frame, position):
        seen.append(version)
        return read(cls, version, frame, position)

    monkeypatch.setattr(offset_commit, "decode", counted)
    return seen


@pytest.fixture
async def broker():
    made = await started()
    yield made
    await stop(made)


async def started() -> OneBroker:
    made = OneBroker()
    for name in ("t", "u", OFFSETS_TOPIC):
        made.topic(name, partitions=1 if name == OFFSETS_TOPIC else 3)
    groups = made.handlers.group_coordinator
    await groups.start()
    await until(lambda: bool(groups.load_times_ms()))
    return made


async def stop(made: OneBroker) -> None:
    await made.handlers.group_coordinator.stop()
    await made.stop()


def commit(*places: tuple[str, int, int], version: int = 8, **given) -> OffsetCommitRequest:
    """`places`: topic, partition, offset. A topic that comes in a row is named once."""
    topics: list[OffsetCommitRequestTopic] = []
    for topic, index, offset in places:
        if not topics or topics[-1].name != topic:
            topics.append(OffsetCommitRequestTopic(name=topic))
        asked = OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=offset % 7 if version >= 6 else -1,
            committed_metadata=given.get("metadata"),
        )
        topics[-1].partitions.append(asked)
    fields = {"group_id": "g", "retention_time_ms": given.get("retention_ms", -1)}
    if version >= 1:
        fields["member_id"] = given.get("member_id", "")
    return OffsetCommitRequest(**(fields | {"topics": topics}))


def stored(broker: OneBroker, group: str = "g") -> dict[TopicPartition, tuple]:
    offsets = broker.handlers.group_coordinator.fetch_offsets(group, None)
    return {place: tuple(offset) for place, offset in offsets.items()}


def errors_of(frames: list[bytes], version: int) -> list[list[int]]:
    found = []
    for frame in frames:
        _id, start = parse_response_header(memoryview(frame), OffsetCommitRequest.API_KEY, version)
        response, _end = decode(OffsetCommitResponse, version, frame, start)
        found.append([p.error_code for topic in response.topics for p in topic.partitions])
    return found


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_route_answers_to_the_byte(version: int, read_in_full: list[int]) -> None:
    answers, found = [], []
    for routes in (True, False):
        broker = await started()
        connection = OneConnection(broker, routes=routes)
        read_in_full.clear()
        for offset in range(9):
            places = [("t", 0, offset), ("t", 2, 2 * offset), ("u", 1, 3 * offset)]
            asked = commit(*places, version=version, metadata="mé", retention_ms=10**9)
            connection.read(request(asked, version, offset - 4))
        answers.append(await connection.settle())
        found.append(stored(broker))
        if routes:
            assert len(read_in_full) == (9 if version < 2 else 2)
        await stop(broker)
    assert len(answers[0]) == 9
    assert answers[0] == answers[1]
    assert found[0] == found[1]
    assert {row[0] for row in found[0].values()} == {8, 16, 24}


steps = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from("tux"), st.integers(-1, 3), st.integers(0, 2**40)),
            min_size=0,
            max_size=3,
        ),
        st.sampled_from(["", "m"]),
        st.sampled_from([None, "", "note"]),
        st.sampled_from([5, 8]),
        st.integers(1, 6),
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_whatever_comes_behind_each_other_is_answered_as_without_routes(steps) -> None:
    async def check() -> None:
        answers, found = [], []
        for routes in (True, False):
            broker = await started()
            connection = OneConnection(broker, routes=routes)
            got = []
            for places, member_id, metadata, version, times in steps:
                for number in range(times):
                    moved = [(topic, index, offset + number) for topic, index, offset in places]
                    asked = commit(*moved, version=version, member_id=member_id, metadata=metadata)
                    connection.read(request(asked, version, number))
                got += await connection.settle()
            answers.append(got)
            found.append(stored(broker))
            await stop(broker)
        assert answers[0] == answers[1]
        assert found[0] == found[1]

    asyncio.run(check())


async def test_a_topic_that_has_gone_is_refused(broker: OneBroker) -> None:
    connection = OneConnection(broker)
    for offset in range(3):
        connection.read(request(commit(("t", 0, offset)), 8, offset))
    assert errors_of(await connection.settle(), 8) == [[0]] * 3
    assert connection.info.commit_route.commits == 1
    image = broker.metadata_cache.image
    left = {name: topic for name, topic in image.topics.items() if name != "t"}
    broker.metadata_cache.replace(image.__class__(**(_fields(image) | {"topics": left})))
    connection.read(request(commit(("t", 0, 9)), 8, 9))
    assert errors_of(await connection.settle(), 8) == [[E.UNKNOWN_TOPIC_OR_PARTITION]]


def _fields(image: object) -> dict:
    return {name: getattr(image, name) for name in image.__class__.__slots__}


async def test_who_may_no_longer_read_is_refused(broker: OneBroker, monkeypatch) -> None:
    """Of the group, and of one topic: both are asked each time."""
    denied: set[str] = set()
    monkeypatch.setattr(
        broker.authorizer, "authorize", lambda _who, _host, _what, _kind, name: name not in denied
    )
    monkeypatch.setattr(broker.authorizer, "is_enabled", True)
    connection = OneConnection(broker)
    places = [("t", 0, 1), ("u", 0, 1)]
    for number in range(3):
        connection.read(request(commit(*places), 8, number))
    assert errors_of(await connection.settle(), 8) == [[0, 0]] * 3
    denied.add("u")
    connection.read(request(commit(("t", 0, 5), ("u", 0, 5)), 8, 5))
    assert errors_of(await connection.settle(), 8) == [[0, E.TOPIC_AUTHORIZATION_FAILED]]
    assert stored(broker)[TopicPartition("u", 0)][0] == 1
    denied.clear()
    for number in range(3):
        connection.read(request(commit(*places), 8, number))
    await connection.settle()
    denied.add("g")
    connection.read(request(commit(*places), 8, 6))
    assert errors_of(await connection.settle(), 8) == [[E.GROUP_AUTHORIZATION_FAILED] * 2]


async def test_a_large_request_is_not_kept(broker: OneBroker) -> None:
    connection = OneConnection(broker)
    metadata = "x" * 4000
    places = [("t", index % 3, index) for index in range(-(-ROUTE_BYTES_MAX // 4000))]
    for number in range(3):
        connection.read(request(commit(*places, metadata=metadata), 8, number))
    assert len(await connection.settle()) == 3
    assert connection.info.commit_route is None


async def test_who_commits_for_many_groups_gets_no_route(
    broker: OneBroker, read_in_full: list[int]
) -> None:
    """Making one that is not used costs more than it saves."""
    connection = OneConnection(broker)
    for number in range(20):
        asked = commit(("t", 0, number))
        asked.group_id = "ab"[number % 2]
        connection.read(request(asked, 8, number))
    assert errors_of(await connection.settle(), 8) == [[0]] * 20
    assert len(read_in_full) == 20
    assert connection.info.commit_route is None


async def test_a_client_that_has_to_wait_is_told_so(broker: OneBroker) -> None:
    connection = OneConnection(broker)
    for number in range(3):
        connection.read(request(commit(("t", 0, number)), 8, number))
    usual = (await connection.settle())[-1]
    route = connection.info.commit_route
    header = SimpleNamespace(api_version=8, correlation_id=2)
    well = {TopicPartition("t", 0): E.NONE}
    answer = route.answer(SimpleNamespace(header=header, throttle_time_ms=0), well)
    assert answer[4:] == usual
    assert route.answer(SimpleNamespace(header=header, throttle_time_ms=5), well) is None
