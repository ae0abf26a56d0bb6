"""Requests that name thousands of things leave turns of the loop to everybody else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dataplane.broker.delayed.deferred import Deferred
from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.handlers import metadata, turns
from dataplane.handlers.turns import TURN_ITEMS
from dataplane.model.errors import ErrorCode as E
from dataplane.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from dataplane.wire.messages.delete_groups import DeleteGroupsRequest
from dataplane.wire.messages.describe_groups import DescribeGroupsRequest
from dataplane.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from dataplane.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.dataplane.handlers.one_broker import OneBroker, read_answer, settled

if TYPE_CHECKING:
    from dataplane.wire.schema import Message

COUNT = 10 * TURN_ITEMS
NAMES = [f"n{number}" for number in range(COUNT)]
LONG: list[tuple[Message, int]] = [
    (MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in NAMES]), 9),
    (FindCoordinatorRequest(coordinator_keys=NAMES), 4),
    (DescribeGroupsRequest(groups=NAMES), 5),
    (ConsumerGroupDescribeRequest(group_ids=NAMES), 0),
    (DeleteGroupsRequest(groups_names=NAMES), 2),
    (
        OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in NAMES]
        ),
        8,
    ),
    (
        DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in NAMES], response_partition_limit=1
        ),
        0,
    ),
    (ListOffsetsRequest(topics=[ListOffsetsTopic(name=name) for name in NAMES]), 7),
    (
        ListOffsetsRequest(
            topics=[
                ListOffsetsTopic(
                    name="t",
                    partitions=[ListOffsetsPartition(partition_index=n) for n in range(COUNT)],
                )
            ]
        ),
        7,
    ),
]


@pytest.fixture
async def broker():
    made = OneBroker()
    made.topic("t")
    made.topic(OFFSETS_TOPIC)
    yield made
    await made.stop()


@pytest.mark.parametrize(("request_", "version"), LONG, ids=lambda value: type(value).__name__)
async def test_others_have_their_turn(broker: OneBroker, request_: Message, version: int) -> None:
    answer = broker.submit(request_, version)
    assert isinstance(answer, Deferred)
    others = 0
    async with asyncio.timeout(20):
        while not answer.done:
            others += 1
            await asyncio.sleep(0)
    assert others >= COUNT // TURN_ITEMS
    assert read_answer(request_, version, answer.value)


async def test_a_long_metadata_request_is_answered_as_its_parts_are(broker: OneBroker) -> None:
    long = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in [*NAMES, "t", "t"]])
    found = read_answer(long, 9, await settled(broker.submit(long, 9))).topics
    assert [topic.name for topic in found] == [*NAMES, "t"], "once each"
    for name in ("n7", "t"):
        short = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        (alone,) = (await broker.ask(short, 9)).topics
        assert alone == next(topic for topic in found if topic.name == name)


async def test_what_fails_is_answered(broker: OneBroker, monkeypatch) -> None:
    encode = metadata.encode_topic

    def fail(version, error, name, *rest, **more):
        if name == NAMES[-1] and error is not E.UNKNOWN_SERVER_ERROR:
            raise RuntimeError("a bug")
        return encode(version, error, name, *rest, **more)

    monkeypatch.setattr(metadata, "encode_topic", fail)
    long, _version = LONG[0]
    found = read_answer(long, 9, await settled(broker.submit(long, 9))).topics
    assert {topic.error_code for topic in found} == {E.UNKNOWN_SERVER_ERROR}
    assert broker.metrics.failed_requests.value == 1


async def test_turns_count_for_a_quota_and_end_with_the_connection() -> None:
    spent: list[float] = []
    metering = SimpleNamespace(spend=spent.append)
    taken: list[int] = []
    context = SimpleNamespace(metering=metering, broker=None)

    def begin() -> Deferred:
        return turns.answer_in_turns(
            context, range(3 * TURN_ITEMS), taken.append, lambda: ["all"], lambda: ["none"]
        )

    assert await settled(begin()) == ["all"]
    assert taken == list(range(3 * TURN_ITEMS))
    assert len(spent) == 4
    taken.clear()
    left = begin()
    await asyncio.sleep(0)
    left.abandon()
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(taken) == TURN_ITEMS
