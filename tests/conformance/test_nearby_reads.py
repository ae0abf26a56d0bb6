"""librdkafka with `client.rack` reads from the follower on its rack (KIP-392)."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
COUNT = 200


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory):
    settings = {
        "broker.rack": "rack-{broker}",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }
    with local_cluster(tmp_path_factory.mktemp("racks"), settings=settings) as started:
        yield started


@pytest.mark.parametrize(("rack", "reads_from"), [("rack-2", 2), ("rack-0", 0), ("rack-9", 0)])
def test_it_reads_all_from_the_replica_on_its_rack(racks, rack: str, reads_from: int) -> None:
    topic = f"near-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": racks.bootstrap})
    admin.create_topics([NewTopic(topic, 1, replica_assignment=[[0, 1, 2]])])[topic].result(20)
    producer = Producer({"bootstrap.servers": racks.bootstrap, "acks": "all"})
    for number in range(COUNT):
        producer.produce(topic, str(number), partition=0)
    assert producer.flush(30) == 0
    stats: dict[str, Any] = {}
    consumer = Consumer(
        {
            "bootstrap.servers": racks.bootstrap,
            "group.id": "near",
            "client.rack": rack,
            "statistics.interval.ms": 100,
            "stats_cb": lambda text: stats.update(json.loads(text)),
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[int] = []

    def place() -> int:
        reported = stats.get("topics", {}).get(topic, {}).get("partitions", {}).get("0", {})
        return int(reported.get("broker", -1))

    for _ in eventually(30, f"{COUNT} records"):
        message = consumer.poll(0.2)
        while message is not None:
            assert message.error() is None
            found.append(int(message.value()))
            message = consumer.poll(0.2)
        if len(found) >= COUNT and place() == reads_from:
            break
    producer.produce(topic, str(COUNT), partition=0)
    assert producer.flush(30) == 0
    for _ in eventually(20, "a record written later"):
        message = consumer.poll(0.2)
        if message is not None:
            found.append(int(message.value()))
            break
    consumer.close()
    assert found == list(range(COUNT + 1))
