"""kafka-python: infers the release from ApiVersions, topics, acks=all, groups, resume."""

from __future__ import annotations

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


def consume(bootstrap: str, topic: str, group: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap.split(","),
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=30_000,
    )
    values = []
    for message in consumer:
        values.append(message.value)
        if len(values) == count:
            break
    consumer.commit()
    consumer.close()
    return values


def test_produce_consume_commit_resume(cluster: LocalCluster, topic: str, group: str) -> None:
    servers = cluster.bootstrap.split(",")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=3)])
    producer = KafkaProducer(bootstrap_servers=servers, acks="all", compression_type="gzip")
    futures = [producer.send(topic, f"v{n}".encode(), key=b"k%d" % (n % 5)) for n in range(300)]
    producer.flush(30)
    assert all(future.get(10).offset >= 0 for future in futures)
    assert sorted(consume(cluster.bootstrap, topic, group, 300)) == sorted(
        b"v%d" % n for n in range(300)
    )
    producer.send(topic, b"last").get(10)
    producer.close()
    assert consume(cluster.bootstrap, topic, group, 1) == [b"last"]
    admin.delete_topics([topic])
    admin.close()


def test_the_inferred_release_is_3_9(cluster: LocalCluster) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap.split(","))
    try:
        assert producer.config["api_version"][:2] <= (3, 9)
    finally:
        producer.close()
