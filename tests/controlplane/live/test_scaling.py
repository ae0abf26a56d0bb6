"""A cluster of real brokers grows from three to four and shrinks to three again, while a producer
with acks=all writes; workers are killed on the way. Every acknowledged record is there, once.
"""

import threading
import time

import pytest
from confluent_kafka import Producer, TopicPartition

from tests.controlplane.live.conftest import GOVERNED
from tests.controlplane.live.holds import AFTER
from tests.controlplane.live.service import Refused

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.timeout(400),
    pytest.mark.skipif(GOVERNED != "penstock", reason="it adds brokers that the service runs"),
]
TOPIC, PARTITIONS = "t.scale", 6
PACE_S = 0.01
READ_S = 60.0


class Account:
    """Numbered records, each acknowledged by all in-sync replicas or counted as failed."""

    def __init__(self, clients, topic):
        self.acknowledged, self.failures = set(), []
        self._topic, self._number = topic, 0
        self._producer = Producer(
            {
                **clients.config,
                "acks": "all",
                "enable.idempotence": True,
                "message.timeout.ms": 60_000,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            self._producer.produce(
                self._topic,
                value=str(self._number).encode(),
                partition=self._number % PARTITIONS,
                on_delivery=self._delivered,
            )
            self._number += 1
            self._producer.poll(0)
            self._stop.wait(PACE_S)
        self._producer.flush(60)

    def _delivered(self, error, message):
        if error is None:
            self.acknowledged.add(int(message.value()))
        else:
            self.failures.append(str(error))

    def stop(self):
        self._stop.set()
        self._thread.join(90)
        del self._producer  # or it looks for its cluster for as long as the tests run


def read_all(clients, count):
    """Numbers by partition, in the order in which the log has them."""
    consumer = clients.consumer("accounts.scale")
    consumer.assign([TopicPartition(TOPIC, part, 0) for part in range(PARTITIONS)])
    found = {part: [] for part in range(PARTITIONS)}
    end_s = time.monotonic() + READ_S
    try:
        while sum(map(len, found.values())) < count and time.monotonic() < end_s:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                found[message.partition()].append(int(message.value()))
    finally:
        consumer.close()
    return found


def replicas_on(service, broker):
    rows = service.get(f"/clusters/{service.cluster_id}/topics/{TOPIC}")["partitions"]
    return [row["partition"] for row in rows if broker in row["replicas"]]


def run_next(service, offered):
    ended = service.run(offered["kind"], **offered["inputs"])
    assert ended["state"] == "succeeded", ended


def test_three_to_four_to_three_under_a_producer(service, cluster, clients):
    base = f"/clusters/{service.cluster_id}"
    before = service.get(base)
    service.run("topic.create", name=TOPIC, partitions=PARTITIONS, replication_factor=3)
    account = Account(clients, TOPIC)
    try:
        plan = service.plan("cluster.add_brokers", count=1)
        (planned,) = plan["diff"]["brokers"]
        new = planned["broker_id"]
        assert new not in {row["id"] for row in before["brokers"]}
        # Its host was told and nobody has waited for it yet.
        added = service.run_through_kills(plan, ("desired", AFTER))
        assert added["state"] == "succeeded", added
        run_next(service, added["outcome"]["next_plan"])
        assert replicas_on(service, new)
        with pytest.raises(Refused) as caught:
            service.plan("cluster.remove_brokers", brokers=[new])
        problem = caught.value.problem
        assert problem["code"] == "broker-not-empty"
        run_next(service, problem["next_plan"])
        assert replicas_on(service, new) == []
        home = service.directory / "brokers" / f"{service.cluster_id}-{new}"
        assert home.exists()
        plan = service.plan("cluster.remove_brokers", brokers=[new])
        # Told to stop, and not awaited yet.
        removed = service.run_through_kills(plan, ("stop", AFTER))
        assert removed["state"] == "succeeded", removed
    finally:
        account.stop()
    assert not home.exists()
    after = service.get(base)
    assert {row["id"] for row in after["brokers"]} == {row["id"] for row in before["brokers"]}
    assert set(after["bootstrap_servers"].split(",")) == set(before["bootstrap_servers"].split(","))
    assert not account.failures
    assert account.acknowledged
    found = read_all(clients, len(account.acknowledged))
    numbers = [number for rows in found.values() for number in rows]
    assert len(numbers) == len(set(numbers)), "a record is there twice"
    assert set(numbers) == account.acknowledged
    assert all(rows == sorted(rows) for rows in found.values())
