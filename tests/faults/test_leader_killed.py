"""The leader of a partition dies by SIGKILL while an idempotent producer with acks=all writes."""

from __future__ import annotations

import collections
import itertools
import threading
import time
import uuid

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.local_cluster import LocalCluster, eventually, local_cluster

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
KILLS = 2
UNWRITABLE_MAX_S = 5.0


class Writer:
    """Writes numbered records until told to stop; knows which were acknowledged, and when."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged: list[int] = []
        self.acknowledged_at: list[float] = []
        self.failed: list[str] = []
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 2,
                "delivery.timeout.ms": 60_000,
                "retry.backoff.max.ms": 200,
            }
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            try:
                self._producer.produce(
                    self._topic, str(number).encode(), on_delivery=self._delivered
                )
                number += 1
            except BufferError:
                self._producer.poll(0.05)
            self._producer.poll(0)
            time.sleep(0.0005)
        self._producer.flush(90)

    def _delivered(self, error, message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        self.acknowledged.append(int(message.value()))
        self.acknowledged_at.append(time.monotonic())

    def longest_silence(self, since: float) -> float:
        """The longest time without an acknowledgement after `since`, in seconds."""
        times = [since, *(at for at in self.acknowledged_at if at > since)]
        return max(after - before for before, after in itertools.pairwise(times))

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def leader_of(bootstrap: str, topic: str) -> int:
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, 10)
    return metadata.topics[topic].partitions[0].leader


def read_all(bootstrap: str, topic: str) -> list[int]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    )
    _low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), 20)
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[int] = []
    deadline = time.monotonic() + 60
    while len(values) < high and time.monotonic() < deadline:
        values += [int(m.value()) for m in consumer.consume(1000, 1.0) if m.error() is None]
    consumer.close()
    return values


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with local_cluster(
        tmp_path_factory.mktemp("faults"), settings={"min.insync.replicas": "2"}
    ) as started:
        yield started


def test_no_acknowledged_record_is_lost_or_doubled(cluster: LocalCluster) -> None:
    topic = f"killed-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(20)
    writer = Writer(cluster.bootstrap, topic)
    gaps = []
    try:
        for _ in range(KILLS):
            time.sleep(3)
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
            time.sleep(4)  # the dead broker comes back and catches up
    finally:
        writer.stop()
    assert writer.failed == []
    print(
        f"acknowledged {len(writer.acknowledged)} records; longest silence after each kill: {gaps}"
    )
    counts = collections.Counter(read_all(cluster.bootstrap, topic))
    lost = [number for number in writer.acknowledged if counts[number] == 0]
    doubled = [number for number, count in counts.items() if count > 1]
    assert (lost[:10], doubled[:10]) == ([], [])
    assert max(gaps) < UNWRITABLE_MAX_S


def test_the_killed_brokers_come_back_in_sync(cluster: LocalCluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        metadata = admin.list_topics(timeout=10)
        topics = [t for name, t in metadata.topics.items() if name.startswith("killed-")]
        if len(metadata.brokers) == 3 and all(
            len(p.isrs) == 3 for t in topics for p in t.partitions.values()
        ):
            return
        time.sleep(0.2)
    pytest.fail("the in-sync sets did not become whole again")
