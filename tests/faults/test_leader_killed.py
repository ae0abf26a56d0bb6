"""Brokers die by SIGKILL while an idempotent producer with acks=all writes."""

from __future__ import annotations

import collections
import time
import uuid

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.faults.traffic import Writer, controller_of, leader_of, read_all
from tests.local_cluster import LocalCluster, eventually, local_cluster

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
KILLS = 2
UNWRITABLE_MAX_S = 5.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    settings = {"min.insync.replicas": "2", "offsets.topic.num.partitions": "3"}
    with local_cluster(tmp_path_factory.mktemp("faults"), settings=settings) as started:
        yield started


def create(cluster: LocalCluster, name: str, assignment: list[list[int]]) -> str:
    """A topic whose replicas lie where the test wants them; the first of each list leads."""
    topic = f"{name}-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(topic, len(assignment), replica_assignment=assignment)])[
        topic
    ].result(20)
    return topic


def wait_until_whole(cluster: LocalCluster) -> None:
    """Every broker is back and every replica in sync."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for _ in eventually(60, "whole in-sync sets"):
        metadata = admin.list_topics(timeout=10)
        partitions = [p for t in metadata.topics.values() for p in t.partitions.values()]
        if len(metadata.brokers) == 3 and all(len(p.isrs) == len(p.replicas) for p in partitions):
            return


def assert_exactly_once(writer: Writer, bootstrap: str, topic: str) -> None:
    assert writer.failed == []
    counts = collections.Counter(read_all(bootstrap, topic))
    lost = [number for number in writer.acknowledged if counts[number] == 0]
    doubled = [number for number, count in counts.items() if count > 1]
    assert (lost[:10], doubled[:10]) == ([], [])


@pytest.mark.parametrize("also_controller", [False, True])
def test_no_acknowledged_record_is_lost_or_doubled(
    cluster: LocalCluster, also_controller: bool
) -> None:
    wait_until_whole(cluster)
    controller = controller_of(cluster.bootstrap)
    leader = controller if also_controller else (controller + 1) % 3
    order = [leader, (leader + 1) % 3, (leader + 2) % 3]
    topic = create(cluster, "killed", [order])
    writer = Writer(cluster.bootstrap, topic)
    gaps = []
    try:
        for _ in range(KILLS):
            time.sleep(2)
            leader = leader_of(cluster.bootstrap, topic)
            assert writer.acknowledged
            killed_at = time.monotonic()
            cluster.kill_broker(leader)
            for _ in eventually(40, "another leader"):
                if leader_of(cluster.bootstrap, topic) not in (leader, -1):
                    break
            elected_at = time.monotonic()
            for _ in eventually(20, "an acknowledgement by the new leader"):
                if writer.acknowledged_at[-1] > elected_at:
                    break
            gaps.append(writer.longest_silence(since=killed_at))
            wait_until_whole(cluster)
    finally:
        writer.stop()
    print(f"{len(writer.acknowledged)} records acknowledged; longest silence after kills: {gaps} s")
    assert_exactly_once(writer, cluster.bootstrap, topic)
    assert max(gaps) < UNWRITABLE_MAX_S


def test_a_group_goes_on_when_its_coordinator_dies(cluster: LocalCluster) -> None:
    wait_until_whole(cluster)
    topic = create(cluster, "grouped", [[0, 1, 2]])
    group = f"group-{topic}"
    writer = Writer(cluster.bootstrap, topic)
    time.sleep(1)
    writer.stop()
    total = len(writer.acknowledged)

    def consumer() -> Consumer:
        made = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
            }
        )
        made.subscribe([topic])
        return made

    first = consumer()
    read: list[int] = []
    for _ in eventually(30, "half of the records"):
        read += [int(m.value()) for m in first.consume(total // 2, 1.0) if m.error() is None]
        if len(read) >= total // 2:
            break
    first.commit(asynchronous=False)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    coordinator = admin.describe_consumer_groups([group])[group].result(10).coordinator.id
    cluster.kill_broker(coordinator)
    for _ in eventually(40, "the other half"):
        read += [int(m.value()) for m in first.consume(total, 1.0) if m.error() is None]
        if len(read) >= total:
            break
    for _ in eventually(20, "a commit to the new coordinator"):
        try:
            first.commit(asynchronous=False)
        except Exception as error:
            print(f"commit: {error}")
        else:
            break
    first.close()
    assert read == sorted(writer.acknowledged)
    second = consumer()
    committed = second.committed([TopicPartition(topic, 0)], 20)
    second.close()
    assert committed[0].offset == total
    wait_until_whole(cluster)
