"""A follower whose leader's answers lead nowhere backs off, says so once, and counts."""

from __future__ import annotations

import asyncio
import logging

import pytest

from dataplane.broker.networking.peer_connection import PeerUnavailableError
from dataplane.log.partition_log import PartitionLog
from dataplane.model import retry_warning
from dataplane.model.errors import ErrorCode
from dataplane.replication.partition_fetch_state import EXPECTED_REFUSALS
from dataplane.wire.codec import decode, encode
from dataplane.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.waiting import until

TOPIC = "orders"


def followed(broker: OneBroker, *, batches: int = 3):
    """A replica that holds some batches of epoch 0 and follows a peer in epoch 1."""
    broker.topic(TOPIC, leader=ME, replicas=(ME, PEER))
    partition = broker.partition(TOPIC)
    for _ in range(batches):
        partition.append_now(batch("a", "b"), 1)
    broker.topic(TOPIC, leader=PEER, replicas=(ME, PEER), leader_epoch=1)
    return partition


def diverging(epoch: int, end_offset: int) -> PartitionData:
    return PartitionData(
        partition_index=0,
        high_watermark=0,
        diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset),
    )


def records(base_offset: int, epoch: int) -> PartitionData:
    data = bytearray(batch("x", "y", base_offset=base_offset))
    data[12:16] = epoch.to_bytes(4, "big")
    return PartitionData(partition_index=0, high_watermark=0, records=memoryview(data))


class Leader:
    """A peer whose answers to Fetch are made by `answer`; counts the questions."""

    def __init__(self, broker: OneBroker, answer) -> None:
        self.answer = answer
        self.fetches = 0
        self.bounds_asked = 0
        self._broker = broker
        broker.peers.target = self
        self.bounds = (0, 100)

    def endpoint(self, broker_id: int) -> int:
        return broker_id

    async def connection(self, endpoint: int, *, channel: str) -> Leader:
        return self

    def send(self, request, version: int, callback) -> None:
        self.fetches += 1
        topics = []
        for topic in request.topics:
            answered = [self.answer(wanted) for wanted in topic.partitions]
            topics.append(FetchableTopicResponse(topic_id=topic.topic_id, partitions=answered))
        frame = memoryview(encode(FetchResponse(responses=topics), version))
        asyncio.get_running_loop().call_soon(callback, frame, 0)

    async def request(self, broker_id: int, message, version: int, *, timeout_ms: int):
        self.bounds_asked += 1
        offset = self.bounds[0 if message.topics[0].partitions[0].timestamp == -2 else 1]
        answered = ListOffsetsPartitionResponse(partition_index=0, offset=offset)
        topic = ListOffsetsTopicResponse(name=TOPIC, partitions=[answered])
        return decode(ListOffsetsResponse, 7, encode(ListOffsetsResponse(topics=[topic]), 7))[0]


class Unreachable:
    """Peers that are known, but refuse every connection."""

    def endpoint(self, broker_id: int) -> int:
        return broker_id

    async def connection(self, endpoint: int, *, channel: str) -> None:
        raise PeerUnavailableError("refused")


def truncate_where_we_are(wanted) -> PartitionData:
    return diverging(wanted.last_fetched_epoch, wanted.fetch_offset)


def truncate_to_an_epoch_below(wanted) -> PartitionData:
    """A leader that lost its epochs: it never knows the one we name, nor one below it."""
    return diverging(max(wanted.last_fetched_epoch - 1, 0), 0)


def append_and_truncate_in_turn(wanted) -> PartitionData:
    if wanted.fetch_offset % 4 == 2:
        return records(wanted.fetch_offset, 1)
    return diverging(1 if wanted.last_fetched_epoch == 1 else 0, 2)


def out_of_range(_wanted) -> PartitionData:
    return PartitionData(partition_index=0, error_code=ErrorCode.OFFSET_OUT_OF_RANGE)


def damaged(wanted) -> PartitionData:
    answer = records(wanted.fetch_offset, 1)
    answer.records[-1] ^= 1
    return answer


def no_whole_batch(wanted) -> PartitionData:
    answer = records(wanted.fetch_offset, 1)
    answer.records = answer.records[:-1]
    return answer


def refused(_wanted) -> PartitionData:
    return PartitionData(partition_index=0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)


@pytest.mark.parametrize(
    "answer",
    [
        truncate_where_we_are,
        truncate_to_an_epoch_below,
        append_and_truncate_in_turn,
        out_of_range,
        damaged,
        no_whole_batch,
        refused,
    ],
)
def test_answers_that_lead_nowhere_are_asked_for_less_and_less_often(answer, caplog):
    """Asked without a pause there would be thousands of fetches in half a second."""

    async def run() -> None:
        broker = OneBroker()
        leader = Leader(broker, answer)
        with caplog.at_level(logging.INFO, "dataplane"):
            followed(broker)
            await asyncio.sleep(0.5)
        assert 2 <= leader.fetches <= 20
        assert leader.bounds_asked <= 2 * leader.fetches
        metrics = broker.metrics
        assert metrics.truncation_circles.value + metrics.replication_refusals.value >= 2
        assert len(caplog.records) <= 3, [r.getMessage() for r in caplog.records]
        await broker.stop()

    asyncio.run(run())


def test_a_circle_is_logged_once(caplog):
    async def run() -> None:
        broker = OneBroker()
        Leader(broker, truncate_where_we_are)
        followed(broker)
        await asyncio.sleep(0.3)
        await broker.stop()

    with caplog.at_level(logging.INFO, "dataplane"):
        asyncio.run(run())
    logged = [r.getMessage() for r in caplog.records if "circle" in r.getMessage()]
    assert len(logged) == 1
    assert "orders-0" in logged[0]
    assert f"broker {PEER}" in logged[0]


def test_one_partition_that_turns_in_a_circle_does_not_hold_back_the_others():
    async def run() -> None:
        broker = OneBroker()

        def answer(wanted) -> PartitionData:
            if wanted.last_fetched_epoch == 0:
                return truncate_where_we_are(wanted)
            return records(wanted.fetch_offset, 1)

        Leader(broker, answer)
        broker.topic("good", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
        good, bad = broker.partition("good"), followed(broker)
        await until(lambda: good.log.log_end_offset > 20)
        assert bad.log.log_end_offset == 6
        await broker.stop()

    asyncio.run(run())


def test_whatever_goes_wrong_with_one_partition_the_chain_goes_on(monkeypatch):
    failures = iter([RuntimeError("a bug")] * 3)
    append_as_follower = PartitionLog.append_as_follower

    def failing(log, data):
        for failure in failures:
            raise failure
        return append_as_follower(log, data)

    async def run() -> None:
        broker = OneBroker()
        leader = Leader(broker, lambda wanted: records(wanted.fetch_offset, 1))
        partition = followed(broker)
        monkeypatch.setattr(PartitionLog, "append_as_follower", failing)
        await until(lambda: partition.log.log_end_offset > 6)
        assert leader.fetches >= 4
        await broker.stop()

    asyncio.run(run())


@pytest.mark.parametrize("code", sorted(EXPECTED_REFUSALS))
def test_a_refusal_of_the_normal_course_is_quiet(code, caplog):
    """Also when it lasts for longer than the longest delay between two tries."""

    async def run() -> None:
        broker = OneBroker(replica_fetch_backoff_ms="40")
        leader = Leader(broker, lambda _: PartitionData(partition_index=0, error_code=code))
        followed(broker)
        await until(lambda: leader.fetches > 8)
        await broker.stop()

    with caplog.at_level(logging.INFO, "dataplane"):
        asyncio.run(run())
    assert [r.getMessage() for r in caplog.records] == []


def test_a_refusal_that_lasts_is_warned_of_once(caplog, monkeypatch):
    monkeypatch.setattr(retry_warning, "EXPECTED_MS_MAX", 200)

    async def run() -> None:
        broker = OneBroker(replica_fetch_backoff_ms="20")
        leader = Leader(broker, refused)
        followed(broker)
        started_s = asyncio.get_running_loop().time()
        await until(lambda: caplog.records)
        assert asyncio.get_running_loop().time() - started_s >= 0.2
        fetches = leader.fetches
        await until(lambda: leader.fetches > fetches + 10)
        await broker.stop()

    with caplog.at_level(logging.INFO, "dataplane"):
        asyncio.run(run())
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert "NOT_LEADER_OR_FOLLOWER" in warning.getMessage()


def test_a_leader_that_cannot_be_reached_is_warned_of_once(caplog, monkeypatch):
    """Its session lasts for a while, and so do the elections that follow: that is normal."""
    monkeypatch.setattr(retry_warning, "EXPECTED_MS_MAX", 200)

    async def run() -> None:
        broker = OneBroker(replica_fetch_backoff_ms="20")
        broker.peers.target = Unreachable()
        followed(broker)
        await asyncio.sleep(0.15)
        assert not caplog.records
        await asyncio.sleep(0.45)
        await broker.stop()

    with caplog.at_level(logging.INFO, "dataplane"):
        asyncio.run(run())
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert f"broker {PEER}" in warning.getMessage()
