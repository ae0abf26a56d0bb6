"""A compacted topic on live brokers: its files shrink, its readers end with the same table."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import time
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition
from kafka.record.memory_records import MemoryRecords

from dataplane.wire.record_batch import iter_batches
from tests.conformance.test_confluent_kafka import create
from tests.conformance.test_kafkajs import IS_INSTALLED, run_script
from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

SETTINGS = {"log.cleaner.backoff.ms": "200", "log.retention.check.interval.ms": "500"}
TOPIC = {
    "cleanup.policy": "compact",
    "segment.bytes": "20000",
    "min.cleanable.dirty.ratio": "0.01",
    "file.delete.delay.ms": "100",
}
READ_TIMEOUT_S = 20


def write(bootstrap: str, topic: str, rounds: range) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 5, "enable.idempotence": True, "acks": "all"}
    )
    for number in rounds:
        for key in range(20):
            value = None if key == 7 and number == rounds[-1] else f"{key}-{number}" * 10
            producer.produce(topic, key=f"k{key}", value=value)
        producer.flush(30)


def table(bootstrap: str, topic: str, group: str) -> tuple[dict[str, str | None], int]:
    """Each key's last value, and how many records it took to learn it."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.subscribe([topic])
    found: dict[str, str | None] = {}
    seen = 0
    while True:
        message = consumer.poll(20)
        assert message is not None, "nothing came"
        if message.error():
            break
        seen += 1
        value = message.value()
        found[message.key().decode()] = None if value is None else value.decode()
    consumer.close()
    return found, seen


def test_files_shrink_and_readers_see_the_same_table(tmp_path: pathlib.Path) -> None:
    with local_cluster(tmp_path, settings=SETTINGS) as cluster:
        create(cluster.bootstrap, "tables", 1, **TOPIC)
        write(cluster.bootstrap, "tables", range(150))
        homes = sorted(cluster.data_dir.glob("broker-*/**/tables-0"))
        assert len(homes) == 3
        for _ in eventually(30, "compacted segments on every replica"):
            sizes = [sum(map(len, segments(home))) for home in homes]
            if max(sizes) < 60_000:
                break
        expected = {f"k{key}": f"{key}-149" * 10 for key in range(20)} | {"k7": None}
        found, seen = table(cluster.bootstrap, "tables", "before")
        assert found == expected
        assert seen < 1000
        for home in homes:
            for data in segments(home):
                theirs = MemoryRecords(data)
                while theirs.has_next():
                    assert theirs.next_batch().validate_crc()
        for broker_id in range(cluster.brokers):
            cluster.kill_broker(broker_id)
    with local_cluster(tmp_path, settings=SETTINGS) as cluster:
        assert table(cluster.bootstrap, "tables", "after")[0] == expected
        write(cluster.bootstrap, "tables", range(150, 152))
        found, _ = table(cluster.bootstrap, "tables", "later")
        assert found == {f"k{key}": f"{key}-151" * 10 for key in range(20)} | {"k7": None}


def segments(home: pathlib.Path) -> Iterator[bytes]:
    """What the log's files hold; those that the cleaner replaces meanwhile are left out."""
    for path in home.glob("*.log"):
        with contextlib.suppress(FileNotFoundError):
            yield path.read_bytes()


def segments_of_empty_batches(home: pathlib.Path) -> int:
    """How many segments hold batches, but not a single record."""
    found = 0
    for data in segments(home):
        counts = [header.record_count for _, header in iter_batches(data)]
        found += bool(counts) and not sum(counts)
    return found


def read_with_confluent(bootstrap: str, topic: str, last: str) -> dict[str, str]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "confluent",
            "auto.offset.reset": "earliest",
            "max.partition.fetch.bytes": 1000,
        }
    )
    consumer.subscribe([topic])
    found: dict[str, str] = {}
    until_s = time.monotonic() + READ_TIMEOUT_S
    while last not in found and time.monotonic() < until_s:
        message = consumer.poll(1)
        if message is not None and not message.error():
            found[message.key().decode()] = message.value().decode()
    consumer.close()
    return found


def read_with_kafka_python(bootstrap: str, topic: str, last: str) -> dict[str, str]:
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","),
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=1000,
    )
    consumer.assign([KafkaPartition(topic, 0)])
    found: dict[str, str] = {}
    until_s = time.monotonic() + READ_TIMEOUT_S
    while last not in found and time.monotonic() < until_s:
        for messages in consumer.poll(1000).values():
            found |= {message.key.decode(): message.value.decode() for message in messages}
    consumer.close()
    return found


def read_with_aiokafka(bootstrap: str, topic: str, last: str) -> dict[str, str]:
    async def read() -> dict[str, str]:
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=1000,
        )
        await consumer.start()
        found: dict[str, str] = {}
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                while last not in found:
                    message = await consumer.getone()
                    found[message.key.decode()] = message.value.decode()
        except TimeoutError:
            pass
        finally:
            await consumer.stop()
        return found

    return asyncio.run(read())


def read_with_kafkajs(bootstrap: str, topic: str, last: str) -> dict[str, str]:
    """It skips empty answers and goes on behind the last record it saw."""
    arguments = [bootstrap, topic, "kafkajs", last, str(READ_TIMEOUT_S * 1000)]
    table = json.loads(run_script(*arguments, script="read_table.js"))
    assert isinstance(table, dict)
    return table


def test_consumers_read_past_segments_in_which_no_record_is_left(tmp_path: pathlib.Path) -> None:
    """Each producer's last batch stays, empty; a whole segment of them must stop nobody."""
    with local_cluster(tmp_path, settings=SETTINGS) as cluster:
        create(cluster.bootstrap, "emptied", 1, **TOPIC | {"cleanup.policy": "delete"})
        for number in range(12):
            producer = Producer(
                {"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True, "acks": "all"}
            )
            for key in range(20):
                producer.produce("emptied", key=f"k{key}", value=f"{key}-{number} " * 100)
            producer.flush(30)
        # Only now, so that one round finds all of it: later ones join what is left of segments.
        policy = ConfigEntry(
            "cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET
        )
        resource = ConfigResource(
            ConfigResource.Type.TOPIC, "emptied", incremental_configs=[policy]
        )
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        for done in admin.incremental_alter_configs([resource]).values():
            done.result(30)
        homes = sorted(cluster.data_dir.glob("broker-*/**/emptied-0"))
        for _ in eventually(30, "segments of empty batches on every replica"):
            if min(segments_of_empty_batches(home) for home in homes) >= 3:
                break
        producer.produce("emptied", key="last", value="1")
        producer.flush(30)
        expected = {f"k{key}": f"{key}-11 " * 100 for key in range(20)} | {"last": "1"}
        readers = [read_with_confluent, read_with_kafka_python, read_with_aiokafka]
        if IS_INSTALLED:
            readers.append(read_with_kafkajs)
        for read in readers:
            assert read(cluster.bootstrap, "emptied", "last") == expected, read.__name__
