"""Client quotas on real brokers: rates that clients of others are held to, as soon as they are set."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaProducer

from dataplane.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlteredEntry,
    EntityData,
    OpData,
)
from dataplane.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from dataplane.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from dataplane.wire.messages.metadata import MetadataRequest
from tests.conformance.raw_client import ask, connected
from tests.dataplane.handlers.one_broker import batch
from tests.dataplane.handlers.one_connection import produce
from tests.local_cluster import LocalCluster, eventually, local_cluster

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

BROKERS = 2
RATE = 1_000_000
SIZE = 8_000_000
# Two seconds' worth may pass before a rate is known: windows of a second, three of them.
FREE = 2 * RATE
QUICK_S = 3.0
PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    settings = {"quota.window.num": "3", "offsets.topic.num.partitions": "1"}
    path = tmp_path_factory.mktemp("quotas")
    with local_cluster(path, brokers=BROKERS, settings=settings) as started:
        yield started


@pytest.fixture
def topic(cluster: LocalCluster) -> str:
    name = f"quota-{os.urandom(4).hex()}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, 1, replica_assignment=[[1]])])[name].result(20)
    return name


def set_quota(cluster: LocalCluster, client_id: str, key: str, value: float | None) -> None:
    """By one broker; in force when every broker says so."""
    with connected(cluster, 0) as sock:
        alter(sock, ("client-id", client_id), key, value)
    wanted = [] if value is None else [[(key, value)]]
    for broker in range(BROKERS):
        for _ in eventually(10, f"broker {broker} has the quota of {client_id}"):
            if quotas_of(cluster, broker, client_id) == wanted:
                break


def alter(
    sock: socket.socket, entity: tuple[str, str | None], key: str, value: float | None
) -> None:
    entry = AlteredEntry(
        entity=[EntityData(entity_type=entity[0], entity_name=entity[1])],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None)],
    )
    answer = ask(sock, AlterClientQuotasRequest(entries=[entry]), 1)
    assert [each.error_code for each in answer.entries] == [0]


def quotas_of(cluster: LocalCluster, broker: int, client_id: str) -> list[list[tuple[str, float]]]:
    component = ComponentData(entity_type="client-id", match_type=0, match=client_id)
    with connected(cluster, broker) as sock:
        answer = ask(sock, DescribeClientQuotasRequest(components=[component], strict=True), 1)
    return [[(value.key, value.value) for value in entry.values] for entry in answer.entries]


def produce_all(cluster: LocalCluster, topic: str, client_id: str) -> tuple[float, int]:
    """How long it takes librdkafka to produce SIZE bytes; how often it was told to wait."""
    waits: list[float] = []
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": client_id,
            "acks": "1",
            "linger.ms": 5,
            "batch.size": 200_000,
            "throttle_cb": lambda event: waits.append(event.throttle_time),
        }
    )
    value = os.urandom(10_000)
    started_s = time.monotonic()
    for _ in range(SIZE // len(value)):
        producer.produce(topic, value)
        producer.poll(0)
    assert producer.flush(60) == 0
    return time.monotonic() - started_s, sum(1 for each in waits if each > 0)


def test_a_producer_is_held_to_its_rate_and_no_other(cluster: LocalCluster, topic: str) -> None:
    set_quota(cluster, "slow", PRODUCED, RATE)
    took_s, waits = produce_all(cluster, topic, "slow")
    least_s = (SIZE - FREE) / RATE
    assert 0.7 * least_s <= took_s <= 2.5 * least_s
    assert waits
    took_s, waits = produce_all(cluster, topic, "another")
    assert (took_s < QUICK_S, waits) == (True, 0)
    set_quota(cluster, "slow", PRODUCED, None)
    took_s, waits = produce_all(cluster, topic, "slow")
    assert (took_s < QUICK_S, waits) == (True, 0)


def test_a_quota_counts_for_a_producer_that_runs(cluster: LocalCluster, topic: str) -> None:
    """kafka-python: what it sent without a quota went its own short way on the broker."""
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap, client_id="running", acks=1, batch_size=100_000
    )
    value = os.urandom(10_000)

    def send_s() -> float:
        started_s = time.monotonic()
        for _ in range(SIZE // len(value)):
            producer.send(topic, value)
        producer.flush(60)
        return time.monotonic() - started_s

    free_s = send_s()
    set_quota(cluster, "running", PRODUCED, RATE)
    assert send_s() >= 0.7 * (SIZE - FREE) / RATE > free_s
    set_quota(cluster, "running", PRODUCED, None)
    producer.close()


def consume_s(cluster: LocalCluster, topic: str, client_id: str, count: int) -> float:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": client_id,
            "group.id": client_id,
            "enable.auto.commit": False,
            "fetch.message.max.bytes": 500_000,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    seen, started_s = 0, time.monotonic()
    try:
        while seen < count and time.monotonic() - started_s < 60:
            seen += len(consumer.consume(count - seen, 1.0))
    finally:
        consumer.close()
    assert seen == count
    return time.monotonic() - started_s


def test_a_consumer_is_held_to_its_rate_and_loses_nothing(
    cluster: LocalCluster, topic: str
) -> None:
    produce_all(cluster, topic, "filler")
    set_quota(cluster, "reader", FETCHED, RATE)
    least_s = (SIZE - FREE) / RATE
    assert 0.6 * least_s <= consume_s(cluster, topic, "reader", SIZE // 10_000) <= 3 * least_s
    assert consume_s(cluster, topic, "others", SIZE // 10_000) < QUICK_S


def test_a_throttled_connection_is_not_read_from(cluster: LocalCluster, topic: str) -> None:
    """The next request on it is answered when the wait is over; other connections are not held."""
    set_quota(cluster, "raw", PRODUCED, 10_000)
    with connected(cluster, 1) as sock:
        big = produce((topic, 0, batch(os.urandom(25_000).hex())))
        answer = ask(sock, big, 9)
        assert answer.responses[0].partition_responses[0].error_code == 0
        assert 500 <= answer.throttle_time_ms <= 10_000
        started_s = time.monotonic()
        with connected(cluster, 1) as other:
            assert ask(other, MetadataRequest(topics=[]), 9) is not None
        assert time.monotonic() - started_s < 0.9 * answer.throttle_time_ms / 1000
        assert ask(sock, MetadataRequest(topics=[]), 9) is not None
        waited_s = time.monotonic() - started_s
    assert waited_s >= 0.9 * answer.throttle_time_ms / 1000
    set_quota(cluster, "raw", PRODUCED, None)


def visit_s(cluster: LocalCluster) -> float | None:
    """How long a new connection takes to be answered; None when it is closed instead."""
    started_s = time.monotonic()
    with connected(cluster, 0) as sock:
        answer = ask(sock, MetadataRequest(topics=[]), 9)
        return None if answer is None else time.monotonic() - started_s


def test_connections_that_come_too_fast_wait_as_soon_as_the_rate_is_set(
    cluster: LocalCluster,
) -> None:
    def set_rate(sock: socket.socket, rate: str | None) -> None:
        key = "max.connection.creation.rate"
        change = AlterableConfig(name=key, config_operation=0 if rate else 1, value=rate)
        resource = AlterConfigsResource(resource_type=4, resource_name="", configs=[change])
        answer = ask(sock, IncrementalAlterConfigsRequest(resources=[resource]), 1)
        assert answer.responses[0].error_code == 0, answer.responses[0].error_message

    with connected(cluster, 0) as sock:
        set_rate(sock, "1")
        waits = [visit_s(cluster) for _ in range(6)]
        set_rate(sock, None)
        assert max(wait or 0 for wait in waits) >= 0.3
        assert None not in waits, "they are looked at later, not closed"
        assert sorted(visit_s(cluster) or 9 for _ in range(20))[10] < 0.3


def test_an_address_that_opens_too_many_is_refused(cluster: LocalCluster) -> None:
    key, me = "connection_creation_rate", ("ip", "127.0.0.1")
    with connected(cluster, 0) as sock:
        alter(sock, ("ip", None), key, 1_000.0)
        alter(sock, me, key, 1.0)
        outcomes = [visit_s(cluster) for _ in range(6)]
        assert None in outcomes
        alter(sock, me, key, None)
        alter(sock, ("ip", None), key, None)
    assert None not in [visit_s(cluster) for _ in range(20)]
