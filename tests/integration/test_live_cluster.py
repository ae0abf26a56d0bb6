"""A real cluster governed by clients that others wrote: what the controller does shows outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)
from kafka.admin import KafkaAdminClient

from tests.ports import free_row

pytestmark = pytest.mark.cluster
BROKERS = 4


class Live:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_row(BROKERS)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "dataplane", "local-cluster", "--brokers", str(BROKERS)),
                *("--port", str(self.port), "--data-dir", str(directory)),
                *("--set", "min.insync.replicas=2"),
            ],
            stdout=subprocess.PIPE,
            stderr=(directory / "stderr.log").open("ab"),
            text=True,
        )
        line = self.process.stdout.readline()
        assert line.startswith("ready bootstrap="), (directory / "stderr.log").read_text()
        self.admin = AdminClient({"bootstrap.servers": line.strip().partition("=")[2]})
        self.kafka_python = KafkaAdminClient(bootstrap_servers=self.bootstrap)

    def partition(self, topic, index=0):
        return self.admin.list_topics(topic, timeout=10).topics[topic].partitions[index]

    def until(self, condition, timeout_s=30):
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "never became true"
            time.sleep(0.05)

    def create(self, name, partitions=1, factor=3, **config):
        topic = NewTopic(name, partitions, factor, config=config)
        self.admin.create_topics([topic])[name].result(30)

    def produce(self, topic, count, **conf):
        errors = []
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", **conf})
        for number in range(count):
            producer.produce(
                topic, str(number), partition=0, callback=lambda e, _m: e and errors.append(e)
            )
            producer.poll(0)
        assert producer.flush(30) == 0
        assert not errors

    def read_all(self, topic, count):
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap, "group.id": "reader", "enable.auto.commit": False}
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        found, deadline = [], time.monotonic() + 30
        while len(found) < count and time.monotonic() < deadline:
            message = consumer.poll(0.2)
            if message is not None and not message.error():
                found.append(int(message.value()))
        consumer.close()
        return found

    def pid_of(self, broker):
        return json.loads(next(self.directory.glob(f"broker-{broker}/*.pid")).read_text())["pid"]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    cluster = Live(tmp_path_factory.mktemp("live"))
    yield cluster
    cluster.kafka_python.close()
    cluster.process.terminate()
    assert cluster.process.wait(60) == 0


def test_topics_are_made_grown_described_and_deleted(live):
    live.create("life", 2, 3, **{"retention.ms": "60000"})
    metadata = live.admin.list_topics("life").topics["life"]
    assert all(
        len(p.replicas) == 3 and p.leader == p.replicas[0] for p in metadata.partitions.values()
    )
    live.admin.create_partitions([NewPartitions("life", 5)])["life"].result(30)
    assert len(live.admin.list_topics("life").topics["life"].partitions) == 5
    with pytest.raises(KafkaException, match="already exists"):
        live.create("life")
    live.admin.delete_topics(["life"])["life"].result(30)
    assert "life" not in live.admin.list_topics().topics
    live.create("life", 1, 2)
    assert len(live.partition("life").replicas) == 2
    stray = [p for p in live.directory.glob("broker-*/data/life-4") if p.is_dir()]
    assert stray == []


def test_configuration_is_changed_checked_and_described_with_its_source(live):
    live.create("configured")
    resource = ConfigResource("topic", "configured")

    def alter(name, value, operation=AlterConfigOpType.SET, **options):
        entry = ConfigEntry(name, value, incremental_operation=operation)
        change = ConfigResource("topic", "configured", incremental_configs=[entry])
        live.admin.incremental_alter_configs([change], **options)[change].result(30)

    def describe():
        return live.admin.describe_configs([resource])[resource].result(30)

    alter("max.message.bytes", "5000")
    live.until(lambda: describe()["max.message.bytes"].value == "5000")
    assert describe()["max.message.bytes"].source == 1
    assert describe()["retention.ms"].source == 5
    assert describe()["min.insync.replicas"].source == 4
    alter("cleanup.policy", "compact", AlterConfigOpType.APPEND)
    live.until(lambda: describe()["cleanup.policy"].value == "delete,compact")
    alter("max.message.bytes", "1", validate_only=True)
    assert describe()["max.message.bytes"].value == "5000"
    for name, value in (("max.message.bytes", "many"), ("no.such.key", "1")):
        with pytest.raises(KafkaException, match=r"INVALID_CONFIG|[Ii]nvalid|Unknown"):
            alter(name, value)
    producer = Producer({"bootstrap.servers": live.bootstrap, "message.max.bytes": 10_000_000})
    refused = []
    producer.produce("configured", b"x" * 9_000, key="k", callback=lambda e, _m: refused.append(e))
    producer.flush(10)
    assert refused[0].name() == "MSG_SIZE_TOO_LARGE"
    alter("max.message.bytes", None, AlterConfigOpType.DELETE)
    live.until(lambda: describe()["max.message.bytes"].source == 5)


def test_reassigned_data_is_on_the_new_brokers_and_gone_from_the_old(live):
    live.create("moving", 1, 2)
    live.produce("moving", 2_000)
    before = live.partition("moving").replicas
    target = [b for b in range(BROKERS) if b not in before]
    from kafka.structs import TopicPartition as Partition

    live.kafka_python.alter_partition_reassignments({Partition("moving", 0): target})
    live.until(lambda: live.partition("moving").replicas == target)
    live.until(lambda: sorted(live.partition("moving").isrs) == sorted(target))

    def holders():
        return {
            int(p.parent.parent.name.partition("-")[2])
            for p in live.directory.glob("broker-*/data/moving-0")
        }

    live.until(lambda: holders() == set(target))
    live.until(lambda: live.partition("moving").leader in target)
    assert live.read_all("moving", 2_000) == list(range(2_000))


def test_a_killed_leader_is_replaced_and_nothing_acknowledged_is_lost(live):
    live.create("surviving", 1, 3)
    victim = live.partition("surviving").leader
    acknowledged = []
    producer = Producer(
        {
            "bootstrap.servers": live.bootstrap,
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 0,
            "retry.backoff.ms": 20,
            "reconnect.backoff.ms": 20,
            "topic.metadata.refresh.fast.interval.ms": 50,
        }
    )

    def on_ack(error, message):
        assert error is None
        acknowledged.append((time.monotonic(), int(message.value())))

    killed_at, number, started = None, 0, time.monotonic()
    while time.monotonic() < started + 5:
        producer.produce("surviving", str(number), partition=0, callback=on_ack)
        number += 1
        producer.poll(0.005)
        if killed_at is None and time.monotonic() > started + 1.5:
            os.kill(live.pid_of(victim), signal.SIGKILL)
            killed_at = time.monotonic()
    assert producer.flush(30) == 0
    assert len(acknowledged) == number
    resumed_s = min(at for at, _ in acknowledged if at > killed_at + 0.01) - killed_at
    print(f"writes accepted again {resumed_s:.3f} s after SIGKILL of the leader")
    assert live.read_all("surviving", number) == list(range(number))
    # Whoever leads then: the victim may be elected again, as the preferred leader.
    live.until(lambda: len(live.partition("surviving").isrs) == 3)


def test_preferred_leaders_are_elected_on_request(live):
    live.create("preferred", 1, 3)
    head = live.partition("preferred").leader
    os.kill(live.pid_of(head), signal.SIGTERM)
    live.until(lambda: live.partition("preferred").leader != head)
    live.until(lambda: len(live.partition("preferred").isrs) == 3)
    from confluent_kafka import ElectionType

    asked = TopicPartition("preferred", 0)
    results = live.admin.elect_leaders(ElectionType.PREFERRED, [asked]).result(30)
    assert results[asked] is None
    live.until(lambda: live.partition("preferred").leader == head)
