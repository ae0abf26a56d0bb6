"""A cancelled reassignment on real brokers goes back under its limit, by the brokers' own figures."""

import os
import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as PlacedTopic

from controlplane.clusters.connections import use_gateways
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import TP
from controlplane.operations.services import operation_cancel
from controlplane.reassignments.changing import throttle_change
from controlplane.reassignments.diffs import moves_in
from controlplane.reassignments.progress import moves_with_progress, reassignment_of
from controlplane.reassignments.rules import REPLICA_KEYS, reversed_moves
from controlplane.reassignments.services import RATE_KEYS
from tests.controlplane.support import ACTOR, drive, step
from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]
RECORDS, RECORD_BYTES = 40, 100_000
SIZE_BYTES = RECORDS * RECORD_BYTES
RATE_BYTES_PER_S = 500_000
FIRST = TP("orders", 0)
MOVES = [{"topic": "orders", "partition": part, "replicas": [1]} for part in (0, 1)]


@pytest.fixture
def gateway(world, tmp_path):
    settings = {
        "min.insync.replicas": "1",
        # Small pieces: a limit decides between fetches, never within one.
        "replica.fetch.max.bytes": "131072",
        "replica.fetch.response.max.bytes": "131072",
    }
    with local_cluster(tmp_path, brokers=3, settings=settings) as started:
        servers = tuple(started.bootstrap.split(","))
        made = KafkaGateway(ConnectionSpec(bootstrap_servers=servers, timeout_s=10.0))
        use_gateways(lambda _cluster: made)
        admin = AdminClient({"bootstrap.servers": started.bootstrap})
        topic = PlacedTopic("orders", 2, replica_assignment=[[0], [0]])
        admin.create_topics([topic])["orders"].result(20)
        producer = Producer({"bootstrap.servers": started.bootstrap, "acks": "all"})
        for number in range(2 * RECORDS):
            producer.produce("orders", os.urandom(RECORD_BYTES), partition=number % 2)
        assert producer.flush(60) == 0
        try:
            yield made
        finally:
            made.close()


def held(gateway, broker):
    """Bytes of the first partition on this broker's disk, by its own word; None: no replica."""
    sizes = [
        row.size_bytes for row in gateway.log_dirs(["orders"], brokers=[broker]) if row.tp == FIRST
    ]
    return sizes[0] if sizes else None


def is_at(gateway, broker):
    part = gateway.describe_topics(["orders"])["orders"].partitions[0]
    return part.replicas == (broker,) and part.isr == (broker,)


def rates(gateway, broker):
    entries = gateway.at(broker).broker_configs([broker], RATE_KEYS)[broker]
    return {row.name: row.value for row in entries if row.source == "DYNAMIC_BROKER_CONFIG"}


def test_it_goes_back_as_slowly_as_it_came_and_the_limit_is_gone_then(world, gateway):
    plan = world.plan(
        "reassignment", moves=MOVES, batch_size=1, throttle_bytes_per_s=3 * RATE_BYTES_PER_S
    )
    operation = world.start(plan)
    for _ in eventually(60, "the first partition arrives"):
        drive(operation, ticks=1)
        if is_at(gateway, 1) and held(gateway, 0) is None:
            break
    throttle_change(
        tenant=world.tenant,
        actor=ACTOR,
        operation_id=operation.id,
        bytes_per_s=RATE_BYTES_PER_S,
    )
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    began_s, seen = None, []
    for _ in eventually(90, "it is back"):
        drive(operation, ticks=1)
        size = held(gateway, 0)
        if began_s is None and step(operation, "move-back").state == "running":
            began_s = time.monotonic()
        if size and size < SIZE_BYTES:
            seen.append(size)
            wanted = dict.fromkeys(RATE_KEYS, str(RATE_BYTES_PER_S))
            assert rates(gateway, 0) == rates(gateway, 1) == wanted
        if began_s is not None and is_at(gateway, 0):
            break
    took_s = time.monotonic() - began_s
    assert held(gateway, 0) >= SIZE_BYTES
    measured = SIZE_BYTES / took_s
    assert measured < 2 * RATE_BYTES_PER_S, f"{measured:.0f} bytes/s, {took_s:.1f} s"
    assert len(set(seen)) > 2, "it came in pieces"
    shown = moves_with_progress(
        reassignment_of(world.tenant, operation.id), reversed_moves(moves_in(plan.diff))
    )
    assert [row["state"] for row in shown["data"]] == ["arrived", "arrived"]
    assert all(row["bytes_moved"] == row["bytes_to_move"] >= SIZE_BYTES for row in shown["data"])
    assert drive(operation).state == "cancelled"
    assert step(operation, "verify-back").detail == "2 partitions on the brokers of before"
    assert not any(rates(gateway, broker) for broker in (0, 1))
    own = gateway.topic_configs(["orders"], REPLICA_KEYS)["orders"]
    assert not any(row.value for row in own)
