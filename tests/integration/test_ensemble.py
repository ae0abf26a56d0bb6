"""Brokers on a real ensemble of three: it loses a follower, then its leader, and nobody notices."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from dataplane.config import format_properties
from dataplane.runtime.parent_death import die_with_parent
from tests.local_cluster import ROOT, eventually
from tests.ports import free_row
from tests.zookeeper_ensemble import ensemble

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]  # seconds, on a busy machine

BROKERS = 3
SESSION_TIMEOUT_MS = 20_000  # a busy machine may leave ZooKeeper without a leader for a while
PATIENCE_S = 90


class Brokers:
    """Broker processes without a supervisor: their places end with their sessions."""

    def __init__(self, directory, zookeeper) -> None:
        self.zookeeper = zookeeper
        self.first_port = free_row(BROKERS)
        self.bootstrap = ",".join(f"127.0.0.1:{self.first_port + n}" for n in range(BROKERS))
        self.processes = {}
        for number in range(BROKERS):
            config = directory / f"broker-{number}.properties"
            config.write_text(
                format_properties(
                    {
                        "broker.id": str(number),
                        "listeners": f"PLAINTEXT://127.0.0.1:{self.first_port + number}",
                        "log.dirs": f"{directory}/logs-{number}",
                        "zookeeper.connect": zookeeper.connect_string,
                        "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
                        "min.insync.replicas": "2",
                    }
                )
            )
            with (directory / f"broker-{number}.log").open("wb") as log:
                self.processes[number] = subprocess.Popen(
                    [sys.executable, "-m", "dataplane", "broker", "--config", str(config)],
                    cwd=ROOT,
                    stdout=log,
                    stderr=log,
                    preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks taken
                )

    def end(self, number, how) -> None:
        process = self.processes.pop(number)
        process.send_signal(how)
        try:
            process.wait(30)
        finally:
            process.kill()

    def stop(self) -> None:
        for number in [*self.processes]:
            self.end(number, signal.SIGTERM)


@pytest.fixture
def cluster(tmp_path):
    with ensemble(tmp_path) as zookeeper:
        brokers = Brokers(tmp_path, zookeeper)
        try:
            yield brokers
        finally:
            brokers.stop()


class Client:
    """What a user sees of the cluster, and what ZooKeeper says of it."""

    def __init__(self, brokers) -> None:
        self.brokers = brokers
        self.admin = AdminClient({"bootstrap.servers": brokers.bootstrap})
        self.sent = 0

    def create(self, name) -> None:
        """Until it is there: a controller whose answer from ZooKeeper was lost asks for patience."""
        for _ in eventually(PATIENCE_S, f"topic {name} is created"):
            try:
                self.admin.create_topics([NewTopic(name, 1, BROKERS)])[name].result(30)
            except KafkaException as error:
                if error.args[0].name() == "TOPIC_ALREADY_EXISTS":
                    return
            else:
                return

    def produce(self, count) -> None:
        errors = []
        producer = Producer({"bootstrap.servers": self.brokers.bootstrap, "acks": "all"})
        for number in range(self.sent, self.sent + count):
            producer.produce(
                "t", str(number), on_delivery=lambda e, _m: errors.append(e) if e else None
            )
        assert producer.flush(PATIENCE_S) == 0
        assert errors == []
        self.sent += count

    def read_all(self):
        consumer = Consumer({"bootstrap.servers": self.brokers.bootstrap, "group.id": "reader"})
        consumer.assign([TopicPartition("t", 0, 0)])
        found = []
        for _ in eventually(PATIENCE_S, "every record is read"):
            found += [int(m.value()) for m in consumer.consume(500, 1.0) if not m.error()]
            if len(found) >= self.sent:
                break
        consumer.close()
        return found

    def partition(self):
        return self.admin.list_topics("t", timeout=30).topics["t"].partitions[0]

    def registrations(self):
        """Broker epochs, and who is the controller in which epoch, in ZooKeeper."""
        zookeeper = KazooClient(hosts=self.brokers.zookeeper.connect_string, timeout=20)
        zookeeper.start(timeout=60)
        try:
            ids = zookeeper.get_children("/brokers/ids")
            epochs = {int(i): zookeeper.exists(f"/brokers/ids/{i}").czxid for i in ids}
            controller = json.loads(zookeeper.get("/controller")[0])["brokerid"]
        finally:
            zookeeper.stop()
            zookeeper.close()
        return epochs, controller


def test_the_ensemble_loses_a_follower_and_its_leader(cluster):
    client = Client(cluster)
    zookeeper = cluster.zookeeper
    for _ in eventually(PATIENCE_S, "every broker is known"):
        with contextlib.suppress(KafkaException):
            if len(client.admin.list_topics(timeout=5).brokers) == BROKERS:
                break
    client.create("t")
    client.produce(50)
    epochs, controller = client.registrations()
    assert set(epochs) == set(range(BROKERS))

    follower = zookeeper.follower()
    zookeeper.kill(follower)
    client.produce(50)
    client.create("without-a-follower")
    zookeeper.start(follower)
    zookeeper.wait_until_serving()

    zookeeper.kill(zookeeper.leader())
    client.produce(50)
    zookeeper.wait_until_serving()
    client.create("without-the-leader")
    # Every session survived: same registrations, same controller.
    assert client.registrations() == (epochs, controller)

    dead = client.partition().leader
    cluster.end(dead, signal.SIGTERM)
    for _ in eventually(PATIENCE_S, "another leader"):
        now = client.partition()
        if now.leader not in (-1, dead) and dead not in now.isrs:
            break
    client.produce(50)
    assert client.read_all() == list(range(200))
