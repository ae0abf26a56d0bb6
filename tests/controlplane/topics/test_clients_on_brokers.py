"""Producers, transactions and replicas of a topic on three real brokers, by the REST doors."""

import contextlib
import time

import pytest
from confluent_kafka import Producer

from controlplane.clusters.connections import use_gateways
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import TP, NewTopic
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.conformance.raw_client import ask, connected
from tests.controlplane.support import client_for
from tests.local_cluster import eventually, local_cluster

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(180),
    pytest.mark.django_db(transaction=True),
]
SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "1",
    # As brokers before KIP-890 were: they take a transaction's records that no coordinator knows.
    "transaction.partition.verification.enable": "false",
}
RECORDS = 30


@pytest.fixture
def brokers(world, tmp_path):
    """The world's cluster on real brokers, with a topic of two partitions on three brokers each."""
    with local_cluster(tmp_path, brokers=3, settings=SETTINGS) as started:
        gateway = KafkaGateway(
            ConnectionSpec(bootstrap_servers=tuple(started.bootstrap.split(",")), timeout_s=5.0)
        )
        use_gateways(lambda _cluster: gateway)
        gateway.create_topic(NewTopic(name="orders", partitions=2, replication_factor=3))
        for _ in eventually(20, "every partition has a leader and its replicas"):
            found = gateway.describe_topics(["orders"]).get("orders")
            if found and all(part.leader is not None for part in found.partitions):
                break
        try:
            yield started, gateway
        finally:
            gateway.close()


def producer_of(cluster, **settings):
    return Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", **settings})


def written(producer, records=RECORDS):
    for number in range(records):
        producer.produce("orders", b"x" * 100, partition=number % 2)
    assert producer.flush(30) == 0


def asked(world, of="producers"):
    address = f"/api/v1/clusters/{world.cluster.id}/topics/orders/{of}"
    answer = client_for(world.tenant).get(address)
    assert answer.status_code == 200, answer.content
    return answer.json()


def write_unannounced(cluster, leader):
    """One batch of a transaction that no coordinator knows; its producer's id."""
    with connected(cluster, leader) as sock:
        made = ask(
            sock, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000), 4
        )
        batch = build_batch(
            [NewRecord(None, b"hangs", (), int(time.time() * 1000))],
            producer_id=made.producer_id,
            producer_epoch=made.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        data = TopicProduceData(
            name="orders", partition_data=[PartitionProduceData(index=0, records=bytes(batch))]
        )
        request = ProduceRequest(
            transactional_id="nobody", acks=-1, timeout_ms=10_000, topic_data=[data]
        )
        answer = ask(sock, request, 9)
        assert answer.responses[0].partition_responses[0].error_code == 0
    return made.producer_id


def test_who_writes_is_told_by_what_partitions_remember(world, brokers):
    cluster, _ = brokers
    written(producer_of(cluster))
    found = asked(world)
    assert (found["complete"], found["data"]) == (True, []), "without idempotence there is no trace"

    began_ms = int(time.time() * 1000)
    written(producer_of(cluster, **{"enable.idempotence": "true"}))
    (row,) = asked(world)["data"]
    assert (row["partition_count"], row["transaction"]) == (2, None)
    assert {trace["last_sequence"] for trace in row["partitions"]} == {RECORDS // 2 - 1}
    assert row["last_timestamp_ms"] >= began_ms - 1_000

    open_one = producer_of(cluster, **{"transactional.id": "payments"})
    open_one.init_transactions(30)
    open_one.begin_transaction()
    written(open_one)
    transaction = next(each for each in asked(world)["data"] if each["transaction"])
    assert transaction["transaction"]["standing"] == "open"
    assert transaction["transaction"]["transactional_id"] == "payments"
    assert transaction["transaction"]["state"] == "Ongoing"
    assert transaction["transaction"]["timeout_ms"] == 60_000
    assert transaction["transaction"]["partition_count"] == 2
    assert transaction["transaction"]["started_at_ms"] >= began_ms - 1_000
    assert {trace["open_since_offset"] for trace in transaction["partitions"]} == {RECORDS}
    open_one.commit_transaction(30)
    # Clients are answered once the end is decided; its markers are written after that.
    for _ in eventually(20, "the markers are in both partitions"):
        if [each["transaction"] for each in asked(world)["data"]] == [None, None]:
            break


def test_what_no_coordinator_knows_hangs(world, brokers):
    cluster, gateway = brokers
    written(producer_of(cluster))
    leader = gateway.describe_topics(["orders"])["orders"].partitions[0].leader
    lost = write_unannounced(cluster, leader)
    hanging = next(each for each in asked(world)["data"] if each["producer_id"] == lost)
    assert hanging["transaction"]["standing"] == "hanging"
    assert hanging["transaction"]["transactional_id"] is None
    (trace,) = hanging["partitions"]
    assert trace["standing"] == "hanging"
    assert trace["open_since_offset"] == RECORDS // 2

    refused = gateway.describe_producers([TP("orders", 0), TP("orders", 9)], broker=leader)
    assert {row.tp.partition: row.refused for row in refused} == {
        0: "",
        9: "UNKNOWN_TOPIC_OR_PARTITION",
    }


def test_a_killed_broker_is_a_gap_in_both_and_the_rest_is_said(world, brokers):
    cluster, gateway = brokers
    written(producer_of(cluster, **{"enable.idempotence": "true"}))
    for _ in eventually(20, "every replica has what was written"):
        rows = [row for part in asked(world, "replicas")["data"] for row in part["replicas"]]
        if all((row["size_bytes"] or 0) > RECORDS // 2 * 100 for row in rows):
            break
    assert len(rows) == 6
    assert {row["offset_lag"] for row in rows} == {0}
    assert {row["unknown_because"] for row in rows} == {None}
    assert len({row["log_dir"] for row in rows}) == 3, "each broker has a directory of its own"
    assert sum(row["is_leader"] for row in rows) == 2

    gone = gateway.describe_topics(["orders"])["orders"].partitions[0].leader
    cluster.kill_broker(gone, for_good=True)
    for _ in eventually(30, "the others know that it is gone"):
        with contextlib.suppress(AssertionError):  # the first question may go to the dead broker
            found = asked(world, "replicas")
            if found["gaps"]:
                break
    by_broker = {row["broker"]: row for part in found["data"] for row in part["replicas"]}
    assert by_broker.pop(gone)["size_bytes"] is None
    assert all(row["size_bytes"] > 0 for row in by_broker.values())
    for _ in eventually(30, "another replica leads"):
        with contextlib.suppress(AssertionError):
            found = asked(world)
            if found["complete"]:
                break
    (row,) = found["data"]
    assert row["partition_count"] == 2, "the new leader remembers the producer too"
