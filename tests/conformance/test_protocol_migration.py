"""A group of librdkafka's members is rolled from the classic to the consumer protocol, and back."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import ConsumerGroupType as GroupType
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conformance.conftest import QUICK
from tests.local_cluster import LocalCluster, local_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
PATIENCE_S = 30
STANDSTILL_MAX_S = 5
"""A rebalance of a classic group takes some heartbeats and joins; nothing waits for a session (6 s)."""
PARTITIONS = 4
CLASSIC = {"group.protocol": "classic", "session.timeout.ms": 6000, "heartbeat.interval.ms": 300}
CONSUMER = {"group.protocol": "consumer"}
SHORT = {
    **QUICK,
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path_factory.mktemp("migration"), settings=SHORT) as started:
        yield started


class Stream:
    """Numbered records, written without a pause until `stop`."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.count = 0
        self._stopped = threading.Event()
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic = topic
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(0.02):
            partition = self.count % PARTITIONS
            self._producer.produce(self._topic, str(self.count).encode(), partition=partition)
            self._producer.poll(0)
            self.count += 1

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        assert self._producer.flush(20) == 0
        return self.count


class Group:
    """Its members, polled in turn; every record that is read is committed."""

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        self.members: list[Consumer] = []
        self.read: list[int] = []
        self.standstill_s = 0.0
        self._last_s = time.monotonic()
        self._config = {"bootstrap.servers": bootstrap, "group.id": group}
        self._topic = topic

    def join(self, protocol: dict[str, object], **options: object) -> Consumer:
        given = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({**self._config, **given, **protocol, **options})
        consumer.subscribe([self._topic])
        self.members.append(consumer)
        return consumer

    def leave(self, consumer: Consumer) -> None:
        self.members.remove(consumer)
        consumer.close()

    def poll(self) -> None:
        for consumer in self.members:
            message = consumer.poll(0.01)
            if message is None:
                continue
            assert message.error() is None, message.error()
            now_s = time.monotonic()
            self.standstill_s = max(self.standstill_s, now_s - self._last_s)
            self._last_s = now_s
            self.read.append(int(message.value()))
            # Refused in a rebalance: the record may be read twice, but not lost.
            with contextlib.suppress(KafkaException):
                consumer.commit(message, asynchronous=False)

    def poll_until_shared(self) -> None:
        """All partitions are read, everybody having its part, for a while."""
        deadline = time.monotonic() + PATIENCE_S
        quiet_until = None
        while quiet_until is None or time.monotonic() < quiet_until:
            shares = [
                [(part.topic, part.partition) for part in consumer.assignment()]
                for consumer in self.members
            ]
            assert time.monotonic() < deadline, shares
            held = [part for share in shares for part in share]
            if all(shares) and len(held) == PARTITIONS == len(set(held)):
                quiet_until = quiet_until or time.monotonic() + 1.5
            else:
                quiet_until = None
            self.poll()


def kind(admin: AdminClient, group: str) -> GroupType:
    listed = {g.group_id: g for g in admin.list_consumer_groups().result(20).valid}
    return listed[group].type


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_members_are_rolled_to_the_new_protocol_and_back(
    cluster: LocalCluster, topic: str, group: str, strategy: str
) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(topic, PARTITIONS, 3)], request_timeout=20)[topic].result(20)
    members = Group(cluster.bootstrap, topic, group)
    classic = {**CLASSIC, "partition.assignment.strategy": strategy}
    olds = [members.join(classic), members.join(classic)]
    stream = Stream(cluster.bootstrap, topic)
    try:
        members.poll_until_shared()
        assert kind(admin, group) == GroupType.CLASSIC
        members.standstill_s = 0.0
        news = []
        for old in olds:
            news.append(members.join(CONSUMER))
            members.poll_until_shared()
            assert kind(admin, group) == GroupType.CONSUMER
            members.leave(old)
            members.poll_until_shared()
        for new in news:
            members.join(classic)
            members.poll_until_shared()
            assert kind(admin, group) == GroupType.CONSUMER
            members.leave(new)
            members.poll_until_shared()
        assert kind(admin, group) == GroupType.CLASSIC
        count = stream.stop()
        deadline = time.monotonic() + PATIENCE_S
        while len(set(members.read)) < count:
            assert time.monotonic() < deadline, (len(set(members.read)), count)
            members.poll()
    finally:
        stream.stop()
        for consumer in list(members.members):
            members.leave(consumer)
    assert sorted(set(members.read)) == list(range(count))
    print(f"\n{strategy}: {count} records, longest standstill {members.standstill_s:.2f} s")
    assert members.standstill_s < STANDSTILL_MAX_S
