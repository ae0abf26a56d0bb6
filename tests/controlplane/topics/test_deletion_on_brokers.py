"""A deletion planned on three real brokers of which one is killed."""

import contextlib

import pytest
from confluent_kafka import Producer

from controlplane.clusters.connections import use_gateways
from controlplane.common.problems import Conflict
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import NewTopic
from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]
RECORDS = 6_600


@pytest.fixture
def brokers(world, tmp_path):
    """The world's cluster on real brokers, with 6,600 records in three partitions of one replica."""
    with local_cluster(tmp_path, brokers=3) as started:
        gateway = KafkaGateway(
            ConnectionSpec(bootstrap_servers=tuple(started.bootstrap.split(",")), timeout_s=5.0)
        )
        use_gateways(lambda _cluster: gateway)
        gateway.create_topic(NewTopic(name="orders", partitions=3, replication_factor=1))
        produce(started, RECORDS)
        try:
            yield started
        finally:
            gateway.close()


def produce(cluster, records, partitions=(0, 1, 2)):
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
    for number in range(records):
        producer.produce("orders", b"x" * 50, partition=partitions[number % len(partitions)])
    assert producer.flush(30) == 0


def row(plan, name):
    return next(row for row in plan.impact["blast_radius"] if row["name"] == name)


def test_a_plan_says_what_the_dead_broker_alone_held_is_unknown(world, brokers):
    whole = world.plan("topic.delete", name="orders")
    assert row(whole, "records")["value"] == RECORDS
    assert row(whole, "bytes")["value"] > RECORDS * 50
    assert row(whole, "acls")["value"] == 0, "a cluster without an authorizer has no ACLs"
    brokers.kill_broker(1, for_good=True)
    for _ in eventually(30, "the plan says that records are unknown"):
        with contextlib.suppress(GatewayError):  # the first question may go to the dead broker
            plan = world.plan("topic.delete", name="orders")
            if row(plan, "records")["value"] is None:
                break
    records = row(plan, "records")
    assert records["at_least"] == RECORDS * 2 // 3
    assert [gap["brokers"] for gap in records["unknown"]] == [[1]]
    texts = {found["code"]: found["text"] for found in plan.impact["warnings"]}
    assert texts["data-loss"].startswith("At least 4400 records (at least ")
    assert "That leaves uncertain: records, bytes" in texts["unknown"]
    with pytest.raises(Conflict) as caught:
        world.start(whole)
    assert caught.value.code == "blast-radius-changed"


def test_what_was_written_since_the_plan_stays(world, brokers):
    plan = world.plan("topic.delete", name="orders")
    produce(brokers, 1_000)
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    (change, *_) = caught.value.extra["changes"]
    assert (change["planned"], change["limit"], change["now"]) == (6_600, 7_260, 7_600)
