"""A throttled reassignment on real brokers is as slow as its limit, and hurts nobody."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
import uuid

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)
from kafka.admin import KafkaAdminClient
from kafka.structs import TopicPartition

from tests.local_cluster import LocalCluster, eventually, local_cluster

pytestmark = pytest.mark.cluster

BROKERS = 3
RECORDS, RECORD_BYTES = 60, 100_000
SIZE_BYTES = RECORDS * RECORD_BYTES
RATE_BYTES_PER_S = 1_000_000
ROLES = ("leader", "follower")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    settings = {
        "min.insync.replicas": "1",
        # Small pieces: a throttle decides between fetches, never within one.
        "replica.fetch.max.bytes": "262144",
        "replica.fetch.response.max.bytes": "262144",
    }
    with local_cluster(tmp_path_factory.mktemp("throttled"), settings=settings) as started:
        yield started


class Admin:
    def __init__(self, cluster: LocalCluster) -> None:
        self.client = AdminClient({"bootstrap.servers": cluster.bootstrap})
        self.moves = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
        self.cluster = cluster

    def create(self, replicas: list[int]) -> str:
        """A topic of incompressible records on these brokers."""
        topic = f"moving-{uuid.uuid4().hex[:8]}"
        made = NewTopic(topic, 1, replica_assignment=[replicas])
        self.client.create_topics([made])[topic].result(20)
        producer = Producer({"bootstrap.servers": self.cluster.bootstrap, "acks": "all"})
        for _ in range(RECORDS):
            producer.produce(topic, os.urandom(RECORD_BYTES), partition=0)
        assert producer.flush(60) == 0
        return topic

    def alter(self, kind: str, name: str, values: dict[str, str | None]) -> None:
        entries = [
            ConfigEntry(
                key,
                value,
                incremental_operation=AlterConfigOpType.DELETE
                if value is None
                else AlterConfigOpType.SET,
            )
            for key, value in values.items()
        ]
        change = ConfigResource(kind, name, incremental_configs=entries)
        self.client.incremental_alter_configs([change])[change].result(20)

    def limit(self, rate: int | None) -> None:
        """Set the bound of both roles on every broker, or take it off."""
        text = None if rate is None else str(rate)
        for broker in range(BROKERS):
            keys = [f"{role}.replication.throttled.rate" for role in ROLES]
            self.alter("broker", str(broker), dict.fromkeys(keys, text))

    def throttle(self, topic: str, sources: list[int], targets: list[int]) -> None:
        listed = (
            (role, ",".join(f"0:{broker}" for broker in brokers))
            for role, brokers in zip(ROLES, (sources, targets), strict=True)
        )
        values = {f"{role}.replication.throttled.replicas": text for role, text in listed}
        self.alter("topic", topic, values)

    def begin(self, topic: str, targets: list[int]) -> None:
        self.moves.alter_partition_reassignments({TopicPartition(topic, 0): targets})

    def arrived(self, topic: str, broker: int) -> int:
        """Bytes of the topic on this broker's disk."""
        pattern = f"broker-{broker}/data/{topic}-0/*.log"
        sizes = 0
        for path in self.cluster.data_dir.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                sizes += path.stat().st_size
        return sizes

    def is_at(self, topic: str, replicas: list[int]) -> bool:
        found = self.client.list_topics(topic, timeout=10).topics[topic].partitions[0]
        return found.replicas == replicas and sorted(found.isrs) == sorted(replicas)

    def wait_until_at(self, topic: str, replicas: list[int], seconds: float) -> None:
        for _ in eventually(seconds, f"{topic} at {replicas}"):
            if self.is_at(topic, replicas):
                return


@pytest.fixture(scope="module")
def admin(cluster: LocalCluster):
    made = Admin(cluster)
    yield made
    made.moves.close()


def test_a_move_takes_its_bytes_over_its_rate_and_the_rest_is_fast_once_lifted(admin: Admin):
    free = admin.create([0])
    started_s = time.monotonic()
    admin.begin(free, [1])
    admin.wait_until_at(free, [1], 30)
    unthrottled_s = time.monotonic() - started_s

    throttled = admin.create([0])
    admin.limit(RATE_BYTES_PER_S)
    admin.throttle(throttled, [0], [1])
    started_s = time.monotonic()
    admin.begin(throttled, [1])
    admin.wait_until_at(throttled, [1], 60)
    throttled_s = time.monotonic() - started_s
    expected_s = SIZE_BYTES / RATE_BYTES_PER_S
    assert expected_s * 0.5 < throttled_s < expected_s * 2.5
    assert throttled_s > 2 * unthrottled_s

    lifted = admin.create([0])
    admin.limit(RATE_BYTES_PER_S // 5)
    admin.throttle(lifted, [0], [1])
    admin.begin(lifted, [1])
    for _ in eventually(20, "a first piece"):
        if admin.arrived(lifted, 1):
            break
    # At this rate the whole would take half a minute; a second on, most is still to come.
    time.sleep(1)
    assert admin.arrived(lifted, 1) < SIZE_BYTES / 2
    assert not admin.is_at(lifted, [1])
    admin.limit(None)
    started_s = time.monotonic()
    admin.wait_until_at(lifted, [1], 30)
    assert time.monotonic() - started_s < expected_s / 2


def test_writes_to_replicas_in_sync_are_as_fast_as_before(admin: Admin):
    """Both brokers are over their quota all the time, and every replica is on the list."""
    topic = admin.create([0, 1])

    def median_ms() -> float:
        producer = Producer({"bootstrap.servers": admin.cluster.bootstrap, "acks": "all"})
        took = []
        for _ in range(50):
            started_s = time.monotonic()
            producer.produce(topic, os.urandom(1_000), partition=0)
            assert producer.flush(20) == 0
            took.append(1000 * (time.monotonic() - started_s))
        return statistics.median(took)

    before_ms = median_ms()
    admin.throttle(topic, [0, 1], [0, 1])
    admin.limit(1)
    try:
        assert median_ms() < before_ms * 4 + 30
    finally:
        admin.limit(None)
