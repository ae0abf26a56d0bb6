"""DescribeTopicPartitions: pages, cursors, and who sees what."""

from __future__ import annotations

import pytest

from dataplane.model.errors import ErrorCode
from dataplane.security.principal import Principal
from dataplane.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker


async def ask(broker: OneBroker, *names: str, limit: int = 2000, cursor: Cursor | None = None):
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor,
    )
    return await broker.ask(request, 0)


def rows(answer) -> list[tuple[str, int, list[int]]]:
    return [
        (topic.name, topic.error_code, [each.partition_index for each in topic.partitions])
        for topic in answer.topics
    ]


async def test_a_topic_with_all_that_is_known_of_it(broker: OneBroker):
    topic_id = broker.topic("t", replicas=(ME, PEER), isr=(ME,), leader_epoch=4)
    (topic,) = (await ask(broker, "t")).topics
    assert (topic.name, topic.topic_id, topic.is_internal) == ("t", topic_id, False)
    assert topic.topic_authorized_operations > 0
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.leader_epoch) == (ME, 4)
    assert (partition.replica_nodes, partition.isr_nodes) == ([ME, PEER], [ME])
    # Not null: the Admin client of Java walks over both.
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 2000])
async def test_pages_together_are_everything_once(broker: OneBroker, limit: int):
    counts = {"b": 3, "a": 2, "c": 1}
    for name, count in counts.items():
        broker.topic(name, partitions=count)
    for names in ((), ("c", "b", "a")):
        seen: list[tuple[str, int]] = []
        cursor = None
        for _ in range(10):
            answer = await ask(broker, *names, limit=limit, cursor=cursor)
            page = [
                (topic.name, each.partition_index)
                for topic in answer.topics
                for each in topic.partitions
            ]
            assert len(page) <= limit
            seen += page
            cursor = answer.next_cursor
            if cursor is None:
                break
        assert seen == [(name, index) for name in "abc" for index in range(counts[name])]


@pytest.mark.parametrize("limit", [0, -1])
async def test_at_least_one_partition_is_answered(broker: OneBroker, limit: int):
    broker.topic("t", partitions=2)
    answer = await ask(broker, limit=limit)
    assert rows(answer) == [("t", 0, [0])]
    assert answer.next_cursor == Cursor(topic_name="t", partition_index=1)


async def test_the_broker_has_a_limit_of_its_own():
    broker = OneBroker(**{"max.request.partition.size.limit": "2"})
    broker.topic("t", partitions=3)
    assert rows(await ask(broker)) == [("t", 0, [0, 1])]
    await broker.stop()


async def test_what_is_not_there_is_an_error_of_its_own(broker: OneBroker):
    broker.topic("b")
    answer = await ask(broker, "c", "b", "a", "a")
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert rows(answer) == [("a", missing, []), ("b", 0, [0]), ("c", missing, [])]


async def test_a_cursor_at_a_topic_that_is_gone_goes_on_behind_it(broker: OneBroker):
    for name in ("a", "c"):
        broker.topic(name, partitions=2)
    answer = await ask(broker, cursor=Cursor(topic_name="b", partition_index=1))
    assert rows(answer) == [("c", 0, [0, 1])]
    answer = await ask(broker, cursor=Cursor(topic_name="c", partition_index=9))
    assert rows(answer) == [("c", 0, [])]
    assert answer.next_cursor is None


async def test_a_negative_cursor_is_refused(broker: OneBroker):
    broker.topic("t")
    answer = await ask(broker, "t", cursor=Cursor(topic_name="t", partition_index=-1))
    assert rows(answer) == [("t", ErrorCode.INVALID_REQUEST, [])]


async def test_topics_that_may_not_be_described_are_hidden():
    broker = OneBroker(**{"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"})
    broker.info.principal = Principal.user("nobody")
    broker.topic("t")
    assert rows(await ask(broker)) == []
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    # Whether it is there is not said either.
    assert rows(await ask(broker, "t", "x")) == [("t", denied, []), ("x", denied, [])]
    await broker.stop()
