"""kafka-python: infers the release from ApiVersions, topics, acks=all, groups, resume."""

from __future__ import annotations

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.local_cluster import LocalCluster, eventually

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


def test_fetch_sessions_are_kept_while_partitions_come_and_go(
    cluster: LocalCluster, topic: str
) -> None:
    """Three partitions led by three brokers: sessions grow, shrink and go on; nothing is lost."""
    servers = cluster.bootstrap.split(",")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, num_partitions=6, replication_factor=1)])
    producer = KafkaProducer(bootstrap_servers=servers, acks="all")
    consumer = KafkaConsumer(
        bootstrap_servers=servers, auto_offset_reset="earliest", fetch_max_wait_ms=50
    )
    partitions = [TopicPartition(topic, index) for index in range(6)]
    expected: list[bytes] = []
    found: list[bytes] = []

    def send(round_: int, indexes: range) -> None:
        for index in indexes:
            value = b"%d/%d" % (round_, index)
            producer.send(topic, value, partition=index).get(10)
            expected.append(value)

    def read(what: str) -> None:
        for _ in eventually(20, what):
            for records in consumer.poll(timeout_ms=100).values():
                found.extend(record.value for record in records)
            if len(found) >= len(expected):
                break
        assert sorted(found) == sorted(expected)

    consumer.assign(partitions[:4])
    send(0, range(4))
    read("the first partitions")
    sessions = consumer._fetcher._session_handlers  # noqa: SLF001 - the library shows them nowhere else
    ids = {node: session.next_metadata.session_id for node, session in sessions.items()}
    assert any(ids.values()), "the broker grants sessions"
    for round_ in range(1, 6):
        send(round_, range(4))
        read(f"round {round_}")
    assert ids == {node: sessions[node].next_metadata.session_id for node in ids}
    assert all(session.next_metadata.epoch > 1 for session in sessions.values())
    consumer.pause(*partitions[:2])
    send(6, range(2, 4))
    read("what is not paused")
    consumer.resume(*partitions[:2])
    consumer.assign(partitions)
    for partition in partitions[:4]:
        consumer.seek(partition, 6 if partition.partition < 2 else 7)
    send(7, range(6))
    read("all partitions")
    consumer.close()
    producer.close()
    admin.delete_topics([topic])
    admin.close()
