"""A compacted topic on live brokers: its files shrink, its readers end with the same table."""

from __future__ import annotations

import pathlib

import pytest
from confluent_kafka import Consumer, Producer
from kafka.record.memory_records import MemoryRecords

from tests.conformance.test_confluent_kafka import create
from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

SETTINGS = {"log.cleaner.backoff.ms": "200", "log.retention.check.interval.ms": "500"}
TOPIC = {
    "cleanup.policy": "compact",
    "segment.bytes": "20000",
    "min.cleanable.dirty.ratio": "0.01",
    "file.delete.delay.ms": "100",
}


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
            sizes = [sum(p.stat().st_size for p in home.glob("*.log")) for home in homes]
            if max(sizes) < 60_000:
                break
        expected = {f"k{key}": f"{key}-149" * 10 for key in range(20)} | {"k7": None}
        found, seen = table(cluster.bootstrap, "tables", "before")
        assert found == expected
        assert seen < 1000
        for home in homes:
            for path in home.glob("*.log"):
                theirs = MemoryRecords(path.read_bytes())
                while theirs.has_next():
                    assert theirs.next_batch().validate_crc()
        for broker_id in range(cluster.brokers):
            cluster.kill_broker(broker_id)
    with local_cluster(tmp_path, settings=SETTINGS) as cluster:
        assert table(cluster.bootstrap, "tables", "after")[0] == expected
        write(cluster.bootstrap, "tables", range(150, 152))
        found, _ = table(cluster.bootstrap, "tables", "later")
        assert found == {f"k{key}": f"{key}-151" * 10 for key in range(20)} | {"k7": None}
