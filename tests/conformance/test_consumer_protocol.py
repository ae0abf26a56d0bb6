"""Groups of the consumer protocol (KIP-848) through librdkafka: joins, crashes, leaves, failover."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka import ConsumerGroupType as GroupType
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from dataplane.model.coordinator_partition import partition_for
from tests.conformance.conftest import QUICK
from tests.local_cluster import LocalCluster, local_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Member = Callable[..., Consumer]

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
PATIENCE_S = 40
READ_FOR_EVER = """
import json, sys
from confluent_kafka import Consumer
consumer = Consumer(json.loads(sys.argv[2]))
consumer.subscribe([sys.argv[1]])
while True:
    consumer.poll(0.1)
"""
SHORT = {
    **QUICK,
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path_factory.mktemp("consumer"), settings=SHORT) as started:
        yield started


@pytest.fixture
def admin(cluster: LocalCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap})


def create(admin: AdminClient, topic: str, partitions: int = 4) -> None:
    admin.create_topics([NewTopic(topic, partitions, 3)], request_timeout=20)[topic].result(20)


@pytest.fixture
def member(cluster: LocalCluster, topic: str, group: str) -> Iterator[Member]:
    """Makes members of the group, and closes them when the test ends."""
    made: list[Consumer] = []

    def make(*, subscribe: str = topic, **config: object) -> Consumer:
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": group,
                "group.protocol": "consumer",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "topic.metadata.refresh.interval.ms": 1000,
                **config,
            }
        )
        made.append(consumer)
        consumer.subscribe([subscribe])
        return consumer

    yield make
    for consumer in made:
        consumer.close()


def poll_until(condition: Callable[[], bool], *consumers: Consumer) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, [sorted(map(str, c.assignment())) for c in consumers]
        for consumer in consumers:
            consumer.poll(0.05)


def held(consumer: Consumer) -> set[tuple[str, int]]:
    return {(part.topic, part.partition) for part in consumer.assignment()}


def shares(*consumers: Consumer) -> list[int]:
    return sorted(len(held(consumer)) for consumer in consumers)


def described(admin: AdminClient, group: str):
    return admin.describe_consumer_groups([group])[group].result(20)


def test_members_share_come_and_go(admin, topic, group, member) -> None:
    create(admin, topic)
    first = member()
    poll_until(lambda: shares(first) == [4], first)
    kept_before = held(first)
    second = member()
    poll_until(lambda: shares(first, second) == [2, 2], first, second)
    assert held(first) < kept_before
    assert not held(first) & held(second)
    listed = {g.group_id: g for g in admin.list_consumer_groups().result(20).valid}
    assert listed[group].type == GroupType.CONSUMER
    second.close()
    poll_until(lambda: shares(first) == [4], first)


def test_records_are_read_once_and_offsets_survive(cluster, admin, topic, group, member) -> None:
    create(admin, topic)
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(100):
        producer.produce(topic, str(number).encode(), partition=number % 4)
    assert producer.flush(20) == 0
    first = member()
    read: list[bytes] = []

    def read_some(consumer: Consumer, count: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while len(read) < count:
            assert time.monotonic() < deadline
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                read.append(message.value())
                consumer.commit(message, asynchronous=False)

    read_some(first, 60)
    first.close()
    second = member()
    read_some(second, 100)
    assert sorted(map(int, read)) == list(range(100))
    outsider = [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 7)])]
    refused = admin.alter_consumer_group_offsets(outsider)[group].result(20).topic_partitions
    assert refused[0].error.name() == "UNKNOWN_MEMBER_ID"
    with pytest.raises(KafkaException, match="not empty"):
        admin.delete_consumer_groups([group])[group].result(20)
    second.close()
    admin.delete_consumer_groups([group])[group].result(20)
    assert group not in {g.group_id for g in admin.list_consumer_groups().result(20).valid}


def test_a_crashed_member_is_replaced_after_its_session(
    cluster, admin, topic, group, member
) -> None:
    create(admin, topic)
    first = member()
    poll_until(lambda: shares(first) == [4], first)
    config = {
        "bootstrap.servers": cluster.bootstrap,
        "group.id": group,
        "group.protocol": "consumer",
    }
    doomed = subprocess.Popen([sys.executable, "-c", READ_FOR_EVER, topic, json.dumps(config)])
    try:
        poll_until(lambda: shares(first) == [2], first)
    finally:
        doomed.kill()
        doomed.wait()
    poll_until(lambda: shares(first) == [4], first)


def test_a_static_member_keeps_its_partitions_over_a_restart(admin, topic, member) -> None:
    create(admin, topic)
    stays = member(**{"group.instance.id": "stays"})
    restarts = member(**{"group.instance.id": "restarts"})
    poll_until(lambda: shares(stays, restarts) == [2, 2], stays, restarts)
    kept, moved = held(stays), held(restarts)
    restarts.close()
    again = member(**{"group.instance.id": "restarts"})
    poll_until(lambda: shares(again) == [2], stays, again)
    assert (held(stays), held(again)) == (kept, moved)


def test_an_expression_follows_topics_that_come_and_grow(admin, topic, member) -> None:
    create(admin, f"{topic}-a", 1)
    create(admin, f"other-{topic}", 1)
    first = member(subscribe=f"^{topic}-.*")
    poll_until(lambda: held(first) == {(f"{topic}-a", 0)}, first)
    create(admin, f"{topic}-b", 1)
    poll_until(lambda: shares(first) == [2], first)
    more = NewPartitions(f"{topic}-b", 3)
    admin.create_partitions([more])[f"{topic}-b"].result(20)
    poll_until(lambda: shares(first) == [4], first)
    admin.delete_topics([f"{topic}-a"])[f"{topic}-a"].result(20)
    poll_until(lambda: held(first) == {(f"{topic}-b", n) for n in range(3)}, first)


def test_the_range_assignor_gives_the_same_numbers_of_both_topics(admin, topic, member) -> None:
    for name in ("a", "b"):
        create(admin, f"{topic}-{name}")
    config = {"group.remote.assignor": "range", "subscribe": f"^{topic}-.*"}
    first, second = member(**config), member(**config)
    poll_until(lambda: shares(first, second) == [4, 4], first, second)
    for consumer in (first, second):
        by_topic = [{n for t, n in held(consumer) if t == f"{topic}-{name}"} for name in "ab"]
        assert by_topic[0] == by_topic[1]
        assert len(by_topic[0]) == 2


def test_an_assignor_that_is_not_there_is_an_error(admin, topic, member) -> None:
    create(admin, topic)
    consumer = member(**{"group.remote.assignor": "mine"})
    deadline = time.monotonic() + PATIENCE_S
    message = None
    while message is None:
        assert time.monotonic() < deadline
        message = consumer.poll(0.1)
    assert message.error().name() == "_FATAL"
    assert "assignor or its version range is not supported" in message.error().str()


def test_a_group_is_described(admin, topic, group, member) -> None:
    create(admin, topic)
    first, second = member(**{"client.id": "one"}), member(**{"client.id": "two"})
    poll_until(lambda: shares(first, second) == [2, 2], first, second)
    found = described(admin, group)
    assert found.state.name == "STABLE"
    assert found.type == GroupType.CONSUMER
    assert found.partition_assignor == "uniform"
    by_client = {one.client_id: one for one in found.members}
    for client_id, consumer in (("one", first), ("two", second)):
        parts = by_client[client_id].assignment.topic_partitions
        assert {(part.topic, part.partition) for part in parts} == held(consumer)


def test_a_group_has_settings_of_its_own(cluster, admin, topic, group, member) -> None:
    create(admin, topic)
    name = "consumer.session.timeout.ms"

    def change(value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        asked = ConfigResource(ConfigResource.Type.GROUP, group, incremental_configs=[entry])
        admin.incremental_alter_configs([asked])[asked].result(20)

    change("12000")
    asked = ConfigResource(ConfigResource.Type.GROUP, group)
    found = admin.describe_configs([asked])[asked].result(20)
    assert {key: (entry.value, entry.is_default) for key, entry in found.items()} == {
        name: ("12000", False),
        "consumer.heartbeat.interval.ms": ("300", False),  # the broker's own file
    }
    with pytest.raises(KafkaException, match=r"group\.consumer\.max\.session\.timeout\.ms"):
        change("100000")
    first = member()
    poll_until(lambda: shares(first) == [4], first)
    config = {"bootstrap.servers": cluster.bootstrap, "group.id": group} | {
        "group.protocol": "consumer"
    }
    doomed = subprocess.Popen([sys.executable, "-c", READ_FOR_EVER, topic, json.dumps(config)])
    try:
        poll_until(lambda: shares(first) == [2], first)
    finally:
        doomed.kill()
        doomed.wait()
    killed_s = time.monotonic()
    poll_until(lambda: shares(first) == [4], first)
    assert time.monotonic() - killed_s > 9, "longer than the sessions of other groups"


def test_members_outlive_their_coordinator(cluster, admin, topic, group, member) -> None:
    create(admin, topic)
    first, second = member(), member()
    poll_until(lambda: shares(first, second) == [2, 2], first, second)
    first.commit(offsets=[TopicPartition(*min(held(first)), 3)], asynchronous=False)
    kept = held(first), held(second)
    offsets = admin.list_topics("__consumer_offsets", timeout=20).topics["__consumer_offsets"]
    cluster.kill_broker(offsets.partitions[partition_for(group, 4)].leader)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        first.poll(0.05)
        second.poll(0.05)
    assert (held(first), held(second)) == kept
    third = member()
    poll_until(lambda: shares(first, second, third) == [1, 1, 2], first, second, third)
    assert len(held(first) | held(second) | held(third)) == 4
    where = [ConsumerGroupTopicPartitions(group, [TopicPartition(*min(kept[0]))])]
    found = admin.list_consumer_group_offsets(where)[group].result(20).topic_partitions
    assert found[0].offset == 3
