"""Consumer groups as tools govern them: static members, cooperative moves, offsets put and dropped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as KafkaPythonPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.local_cluster import LocalCluster

    Member = Callable[..., Consumer]

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
PATIENCE_S = 30


def create(bootstrap: str, topic: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 4, 3)], request_timeout=20)[topic].result(20)
    return admin


@pytest.fixture
def member(cluster: LocalCluster, topic: str, group: str) -> Iterator[Callable[..., Consumer]]:
    """Makes members of the group, and closes them when the test ends."""
    made: list[Consumer] = []

    def make(*, revoked: list[object] | None = None, **config: object) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 300,
                **config,
            }
        )
        made.append(consumer)
        calls = [] if revoked is None else revoked
        consumer.subscribe([topic], on_revoke=lambda _consumer, parts: calls.append(parts))
        return consumer

    yield make
    for consumer in made:
        consumer.close()


def poll_until(condition: Callable[[], bool], *consumers: Consumer) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the group did not get there"
        for consumer in consumers:
            consumer.poll(0.1)


def shares(*consumers: Consumer) -> list[int]:
    return sorted(len(consumer.assignment()) for consumer in consumers)


def described(admin: AdminClient, group: str):
    return admin.describe_consumer_groups([group])[group].result(20)


def test_a_static_member_that_restarts_causes_no_rebalance(
    cluster: LocalCluster, topic: str, group: str, member: Member
) -> None:
    admin = create(cluster.bootstrap, topic)
    moved: list[object] = []
    stays = member(revoked=moved, **{"group.instance.id": "stays"})
    restarts = member(**{"group.instance.id": "restarts"})
    poll_until(lambda: shares(stays, restarts) == [2, 2], stays, restarts)
    before = {m.group_instance_id: m for m in described(admin, group).members}
    moved.clear()
    restarts.close()
    again = member(**{"group.instance.id": "restarts"})
    poll_until(lambda: len(again.assignment()) == 2, stays, again)
    after = {m.group_instance_id: m for m in described(admin, group).members}
    assert moved == []
    assert after["stays"].member_id == before["stays"].member_id
    assert after["restarts"].member_id != before["restarts"].member_id
    for instance in ("stays", "restarts"):
        assert after[instance].assignment.topic_partitions == (
            before[instance].assignment.topic_partitions
        )


def test_cooperative_members_give_up_only_what_moves(
    cluster: LocalCluster, topic: str, group: str, member: Member
) -> None:
    admin = create(cluster.bootstrap, topic)
    strategy = {"partition.assignment.strategy": "cooperative-sticky"}
    first = member(**strategy)
    poll_until(lambda: shares(first) == [4], first)
    kept_before = {p.partition for p in first.assignment()}
    second = member(**strategy)
    poll_until(lambda: shares(first, second) == [2, 2], first, second)
    assert {p.partition for p in first.assignment()} < kept_before
    found = described(admin, group)
    assert found.partition_assignor == "cooperative-sticky"
    assert sorted(len(m.assignment.topic_partitions) for m in found.members) == [2, 2]
    second.close()
    poll_until(lambda: shares(first) == [4], first)
    first.close()


def test_offsets_are_put_while_empty_and_refused_while_active(
    cluster: LocalCluster, topic: str, group: str, member: Member
) -> None:
    admin = create(cluster.bootstrap, topic)
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 7, "note")])
    admin.alter_consumer_group_offsets([wanted])[group].result(20)
    asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, n) for n in (0, 1)])
    found = admin.list_consumer_group_offsets([asked])[group].result(20).topic_partitions
    assert [(p.partition, p.offset, p.metadata or "") for p in found] == [
        (0, 7, "note"),
        (1, -1001, ""),
    ]
    active = member()
    poll_until(lambda: shares(active) == [4], active)
    refused = admin.alter_consumer_group_offsets([wanted])[group].result(20).topic_partitions
    assert refused[0].error.name() == "UNKNOWN_MEMBER_ID"
    with pytest.raises(KafkaException, match="not empty"):
        admin.delete_consumer_groups([group])[group].result(20)
    active.close()
    admin.delete_consumer_groups([group])[group].result(20)
    everything = ConsumerGroupTopicPartitions(group)
    assert admin.list_consumer_group_offsets([everything])[group].result(20).topic_partitions == []
    listed = {g.group_id for g in admin.list_consumer_groups().result(20).valid}
    assert group not in listed


class KafkaPythonAdmin:
    """kafka-python's admin client, closed at the end."""

    def __init__(self, bootstrap: str) -> None:
        self._client = KafkaAdminClient(bootstrap_servers=bootstrap)

    def __enter__(self) -> KafkaAdminClient:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()


def test_kafka_python_governs_a_group(
    cluster: LocalCluster, topic: str, group: str, member: Member
) -> None:
    create(cluster.bootstrap, topic)
    zero, one = (KafkaPythonPartition(topic, n) for n in (0, 1))
    active = member(**{"group.instance.id": "a"})
    poll_until(lambda: shares(active) == [4], active)
    active.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
    with KafkaPythonAdmin(cluster.bootstrap) as admin:
        assert group in {g["group_id"] for g in admin.list_groups()}
        found = admin.describe_groups([group])[group]
        assert (found["group_state"], found["protocol_type"]) == ("Stable", "consumer")
        assert found["members"][0]["group_instance_id"] == "a"
        refused = admin.delete_group_offsets(group, [zero])
        assert "GroupSubscribedToTopic" in str(refused[zero])
        active.close()
        removed = admin.remove_group_members(group, [MemberToRemove(group_instance_id="a")])
        assert "Error" not in str(removed).replace("NoError", "")
        deadline = time.monotonic() + PATIENCE_S
        while admin.describe_groups([group])[group]["group_state"] != "Empty":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        admin.alter_group_offsets(group, {one: OffsetAndMetadata(9, "note", -1)})
        offsets = admin.list_group_offsets(group)
        offsets = offsets.get(group, offsets)
        assert (offsets[zero].offset, offsets[one].offset, offsets[one].metadata) == (5, 9, "note")
        admin.delete_group_offsets(group, [zero])
        offsets = admin.list_group_offsets(group)
        assert zero not in offsets.get(group, offsets)
        admin.delete_groups([group])
        assert group not in {g["group_id"] for g in admin.list_groups()}
