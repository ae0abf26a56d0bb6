"""confluent-kafka (librdkafka): topics, acks=all, groups, commits, resume, admin calls."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
RECORDS = 500


def create(bootstrap: str, topic: str, partitions: int = 3, **config: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    created = admin.create_topics(
        [NewTopic(topic, partitions, 3, config=config)], request_timeout=20
    )
    created[topic].result(20)
    return admin


def produce(bootstrap: str, topic: str, count: int, first: int = 0, **config: object) -> None:
    failed = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 5, **config})
    for number in range(first, first + count):
        producer.produce(
            topic,
            key=f"k{number % 17}",
            value=f"v{number}",
            headers=[("n", str(number).encode())],
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )
    assert producer.flush(30) == 0
    assert failed == []


def consume(bootstrap: str, topic: str, group: str, count: int, timeout_s: float = 40) -> list[str]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    values: list[str] = []
    deadline = time.monotonic() + timeout_s
    try:
        while len(values) < count and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is None:
                continue
            assert message.error() is None, message.error()
            values.append(message.value().decode())
        if values:
            consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return values


def test_produce_consume_commit_resume(cluster: LocalCluster, topic: str, group: str) -> None:
    create(cluster.bootstrap, topic)
    produce(cluster.bootstrap, topic, RECORDS)
    assert sorted(consume(cluster.bootstrap, topic, group, RECORDS)) == sorted(
        f"v{n}" for n in range(RECORDS)
    )
    produce(cluster.bootstrap, topic, 50, first=RECORDS)
    resumed = consume(cluster.bootstrap, topic, group, 50)
    assert sorted(resumed) == sorted(f"v{n}" for n in range(RECORDS, RECORDS + 50))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_and_idempotence(
    cluster: LocalCluster, topic: str, group: str, codec: str
) -> None:
    create(cluster.bootstrap, topic, 1)
    produce(
        cluster.bootstrap, topic, 200, **{"compression.type": codec, "enable.idempotence": True}
    )
    assert consume(cluster.bootstrap, topic, group, 200) == [f"v{n}" for n in range(200)]


def test_two_members_share_a_topic(cluster: LocalCluster, topic: str, group: str) -> None:
    create(cluster.bootstrap, topic, 4)
    config = {
        "bootstrap.servers": cluster.bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
    }
    members = [Consumer(config), Consumer(config)]
    try:
        for member in members:
            member.subscribe([topic])
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            for member in members:
                member.poll(0.2)
            assigned = [len(member.assignment()) for member in members]
            if assigned == [2, 2]:
                break
        assert assigned == [2, 2]
    finally:
        for member in members:
            member.close()


def test_offsets_by_time_and_watermarks(cluster: LocalCluster, topic: str) -> None:
    admin = create(cluster.bootstrap, topic, 1)
    produce(cluster.bootstrap, topic, 20)
    between = int(time.time() * 1000) + 1
    time.sleep(0.05)
    produce(cluster.bootstrap, topic, 5, first=20)
    partition = TopicPartition(topic, 0)

    def offset(spec: OffsetSpec) -> int:
        return admin.list_offsets({partition: spec})[partition].result(10).offset

    assert offset(OffsetSpec.earliest()) == 0
    assert offset(OffsetSpec.latest()) == 25
    assert offset(OffsetSpec.for_timestamp(between)) == 20
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "unused"})
    assert consumer.get_watermark_offsets(partition, 10) == (0, 25)
    consumer.close()


def test_topics_are_described_altered_grown_deleted(cluster: LocalCluster, topic: str) -> None:
    admin = create(cluster.bootstrap, topic, 2, **{"retention.ms": "3600000"})
    described = admin.list_topics(topic, 10).topics[topic]
    assert sorted(described.partitions) == [0, 1]
    assert all(sorted(p.replicas) == [0, 1, 2] for p in described.partitions.values())
    resource = ConfigResource(ResourceType.TOPIC, topic)
    assert (
        admin.describe_configs([resource])[resource].result(10)["retention.ms"].value == "3600000"
    )
    change = ConfigResource(
        ResourceType.TOPIC,
        topic,
        incremental_configs=[
            ConfigEntry("retention.ms", "7200000", incremental_operation=AlterConfigOpType.SET)
        ],
    )
    admin.incremental_alter_configs([change])[change].result(10)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if (
            admin.describe_configs([resource])[resource].result(10)["retention.ms"].value
            == "7200000"
        ):
            break
    assert (
        admin.describe_configs([resource])[resource].result(10)["retention.ms"].value == "7200000"
    )
    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(10)
    deadline = time.monotonic() + 10
    while (
        len(admin.list_topics(topic, 10).topics[topic].partitions) != 5
        and time.monotonic() < deadline
    ):
        time.sleep(0.1)
    assert len(admin.list_topics(topic, 10).topics[topic].partitions) == 5
    admin.delete_topics([topic])[topic].result(20)
    deadline = time.monotonic() + 10
    while topic in admin.list_topics(timeout=10).topics and time.monotonic() < deadline:
        time.sleep(0.1)
    assert topic not in admin.list_topics(timeout=10).topics


def test_bad_requests_get_kafkas_own_errors(cluster: LocalCluster, topic: str) -> None:
    admin = create(cluster.bootstrap, topic, 1)
    for wrong, code in [
        (NewTopic(topic, 1, 1), KafkaError.TOPIC_ALREADY_EXISTS),
        (NewTopic("bad name!", 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic(f"{topic}-rf", 1, 9), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic(f"{topic}-p", 0, 1), KafkaError.INVALID_PARTITIONS),
        (NewTopic(f"{topic}-c", 1, 1, config={"retention.ms": "abc"}), KafkaError.INVALID_CONFIG),
        (NewTopic(f"{topic}-u", 1, 1, config={"no.such": "1"}), KafkaError.INVALID_CONFIG),
    ]:
        with pytest.raises(Exception) as refused:
            admin.create_topics([wrong])[wrong.topic].result(10)
        assert refused.value.args[0].code() == code, wrong


def test_only_the_records_at_fault_are_blamed(cluster: LocalCluster, topic: str) -> None:
    """KIP-467: a batch is refused whole, and its producer hears which records were the reason."""
    create(cluster.bootstrap, topic, 1, **{"cleanup.policy": "compact"})
    heard: dict[str, int] = {}
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "acks": "all", "linger.ms": 1_000, "retries": 0}
    )
    for name in ("good", "keyless", "also good", "also keyless"):
        producer.produce(
            topic,
            key=None if "keyless" in name else name,
            value=name,
            on_delivery=lambda error, message: heard.update(
                {message.value().decode(): error.code() if error else 0}
            ),
        )
    assert producer.flush(30) == 0
    assert heard == {
        "good": KafkaError._INVALID_DIFFERENT_RECORD,  # noqa: SLF001 - librdkafka's own codes are public all the same
        "keyless": KafkaError.INVALID_RECORD,
        "also good": KafkaError._INVALID_DIFFERENT_RECORD,  # noqa: SLF001 - librdkafka's own codes are public all the same
        "also keyless": KafkaError.INVALID_RECORD,
    }


def test_groups_are_listed_and_described(cluster: LocalCluster, topic: str, group: str) -> None:
    admin = create(cluster.bootstrap, topic, 1)
    produce(cluster.bootstrap, topic, 10)
    assert len(consume(cluster.bootstrap, topic, group, 10)) == 10
    assert group in {g.group_id for g in admin.list_consumer_groups().result(10).valid}
    assert admin.describe_consumer_groups([group])[group].result(10).group_id == group
    admin.delete_consumer_groups([group])[group].result(10)
    assert group not in {g.group_id for g in admin.list_consumer_groups().result(10).valid}


def test_records_are_deleted_once_every_replica_has_followed(
    cluster: LocalCluster, topic: str
) -> None:
    admin = create(cluster.bootstrap, topic, partitions=2)
    produce(cluster.bootstrap, topic, 100)
    places = [TopicPartition(topic, partition) for partition in (0, 1)]
    ends = {
        place: result.result(20).offset
        for place, result in admin.list_offsets({p: OffsetSpec.latest() for p in places}).items()
    }
    wanted = [TopicPartition(topic, 0, ends[places[0]] // 2), TopicPartition(topic, 1, -1)]
    deleted = admin.delete_records(wanted, operation_timeout=20, request_timeout=30)
    low = {place.partition: result.result(30).low_watermark for place, result in deleted.items()}
    assert low == {0: ends[places[0]] // 2, 1: ends[places[1]]}
    starts = admin.list_offsets({place: OffsetSpec.earliest() for place in places})
    assert {place.partition: each.result(20).offset for place, each in starts.items()} == low
