"""A log directory of a real broker is lost while it serves: the cluster goes on without it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.local_cluster import eventually, local_cluster

pytestmark = pytest.mark.cluster

PARTITIONS = 4


@pytest.fixture
def cluster(tmp_path):
    settings = {
        "log.dirs": f"{tmp_path}/one-{{broker}},{tmp_path}/two-{{broker}}",
        "min.insync.replicas": "2",
        "replica.high.watermark.checkpoint.interval.ms": "300",
        "auto.leader.rebalance.enable": "false",
    }
    with local_cluster(tmp_path / "cluster", brokers=3, settings=settings) as started:
        yield started


def produce(bootstrap, numbers):
    errors = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0})
    for number in numbers:
        producer.produce(
            "t",
            str(number),
            partition=number % PARTITIONS,
            callback=lambda error, _message: error and errors.append(error),
        )
    assert producer.flush(30) == 0
    assert errors == []


def read_all(bootstrap, count):
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition("t", index, 0) for index in range(PARTITIONS)])
    found = []
    for _ in eventually(30, "every record is read"):
        found += [int(m.value()) for m in consumer.consume(500, 1.0) if not m.error()]
        if len(found) >= count:
            break
    consumer.close()
    return sorted(found)


def test_its_replicas_are_led_elsewhere_and_come_back_with_a_restart(cluster, tmp_path):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    assignment = [[0, 1, 2]] * PARTITIONS
    topic = NewTopic("t", PARTITIONS, replica_assignment=assignment)
    admin.create_topics([topic])["t"].result(30)
    produce(cluster.bootstrap, range(200))
    lost = {int(p.name.rpartition("-")[2]) for p in (tmp_path / "one-0").glob("t-*")}
    assert 0 < len(lost) < PARTITIONS

    def partitions():
        """Once all four are named: a broker that has just started may not know them yet, and what
        was asked of the one that was killed is asked again.
        """
        for _ in eventually(60, "the topic is known"):
            with contextlib.suppress(KafkaException):
                found = admin.list_topics("t", timeout=10).topics["t"].partitions
                if len(found) == PARTITIONS:
                    return found
        raise AssertionError

    shutil.rmtree(tmp_path / "one-0")
    for _ in eventually(30, "the lost replicas have left"):
        now = partitions()
        if all(now[index].leader == 1 and sorted(now[index].isrs) == [1, 2] for index in lost):
            break
    kept = [now[index] for index in now if index not in lost]
    assert all(p.leader == 0 and len(p.isrs) == 3 for p in kept)
    produce(cluster.bootstrap, range(200, 400))
    os.kill(cluster.broker_pid(0), signal.SIGKILL)
    for _ in eventually(30, "every replica is in sync again"):
        if all(sorted(p.isrs) == [0, 1, 2] for p in partitions().values()):
            break
    assert read_all(cluster.bootstrap, 400) == list(range(400))
