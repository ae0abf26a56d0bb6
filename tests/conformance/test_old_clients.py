"""Clients of the time before the record batch: librdkafka made to speak as for brokers of then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

if TYPE_CHECKING:
    from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
RELEASES = ["0.8.2.0", "0.9.0.1", "0.10.0.0"]
CODECS = ["none", "gzip", "snappy", "lz4"]
COUNT = 500
DEADLINE_S = 30


def settings(cluster: LocalCluster, release: str) -> dict[str, str | bool]:
    return {
        "bootstrap.servers": cluster.bootstrap,
        "api.version.request": False,
        "broker.version.fallback": release,
    }


def values() -> list[bytes]:
    return [b"value %d " % number + b"x" * (number % 200) for number in range(COUNT)]


def produced(cluster: LocalCluster, topic: str, **options: object) -> None:
    failed: list[object] = []
    producer = Producer({"linger.ms": 50, **options})
    for number, value in enumerate(values()):
        producer.produce(
            topic,
            value,
            b"%d" % number,
            on_delivery=lambda error, _m: error and failed.append(error),
        )
    assert producer.flush(DEADLINE_S) == 0
    assert failed == []


def consumed(consumer: Consumer, count: int = COUNT) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = []
    while len(found) < count:
        message = consumer.poll(DEADLINE_S)
        assert message is not None, f"{len(found)} of {count} messages came"
        assert message.error() is None, message.error()
        assert message.offset() == len(found)
        found.append((message.key(), message.value()))
    return found


EXPECTED = [(b"%d" % number, value) for number, value in enumerate(values())]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("release", RELEASES)
def test_what_an_old_client_writes_old_and_new_ones_read(
    cluster: LocalCluster, topic: str, group: str, release: str, codec: str
) -> None:
    old = settings(cluster, release)
    new = {"bootstrap.servers": cluster.bootstrap}
    produced(cluster, topic, **old, **{"compression.type": codec})
    for reader in (old, new):
        consumer = Consumer({**reader, "group.id": group})
        consumer.assign([TopicPartition(topic, 0, 0)])
        assert consumed(consumer) == EXPECTED
        consumer.close()


def test_it_is_the_formats_of_then_that_are_written(
    cluster: LocalCluster, topic: str, group: str
) -> None:
    """Format 0 has no timestamps."""
    for release in RELEASES:
        produced(cluster, topic, **settings(cluster, release))
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group})
    consumer.assign([TopicPartition(topic, 0, 0)])
    times = [
        message.timestamp()[1]
        for message in consumer.consume(len(RELEASES) * COUNT, timeout=DEADLINE_S)
    ]
    consumer.close()
    assert len(times) == len(RELEASES) * COUNT
    assert set(times[: 2 * COUNT]) == {-1}
    assert min(times[2 * COUNT :]) > 0


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("release", RELEASES)
def test_what_a_new_client_writes_an_old_one_reads(
    cluster: LocalCluster, topic: str, group: str, release: str, codec: str
) -> None:
    produced(cluster, topic, **{"bootstrap.servers": cluster.bootstrap, "compression.type": codec})
    consumer = Consumer({**settings(cluster, release), "group.id": group})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert consumed(consumer) == EXPECTED
    consumer.close()


@pytest.mark.parametrize("release", RELEASES[1:])
def test_a_group_of_an_old_client_goes_on_where_it_committed(
    cluster: LocalCluster, topic: str, group: str, release: str
) -> None:
    """By the earliest offset first, then by what was committed, then for a new client too."""
    produced(cluster, topic, **settings(cluster, release))
    old = {
        **settings(cluster, release),
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = Consumer(old)
    consumer.subscribe([topic])
    consumed(consumer, 100)
    consumer.commit(offsets=[TopicPartition(topic, 0, 100)], asynchronous=False)
    consumer.close()
    for reader in (old, {**old, "api.version.request": True}):
        consumer = Consumer(reader)
        consumer.subscribe([topic])
        message = consumer.poll(DEADLINE_S)
        assert message is not None
        assert (message.error(), message.offset()) == (None, 100)
        consumer.close()


@pytest.mark.parametrize("release", RELEASES)
def test_an_old_client_learns_the_ends_of_a_log(
    cluster: LocalCluster, topic: str, group: str, release: str
) -> None:
    produced(cluster, topic, **settings(cluster, release))
    consumer = Consumer({**settings(cluster, release), "group.id": group})
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=DEADLINE_S) == (
        0,
        COUNT,
    )
    consumer.close()
