"""What a reader says about a cluster of which a part does not answer."""

import contextlib

import pytest
from confluent_kafka import Consumer, Producer

from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.readings import GROUP_TOPIC, ClusterReader, Gap, total
from controlplane.gateway.types import TP, NewTopic
from tests.local_cluster import eventually, local_cluster


@pytest.fixture
def fake():
    """Broker 1 leads orders-0, 2 leads orders-1, 3 leads orders-2; 100 records in each."""
    gateway = FakeGateway(brokers=3)
    gateway.add_topic("orders", partitions=3, rf=1, records=100)
    gateway.add_group("on-1", {TP("orders", 0): 1}, coordinator=1)
    gateway.add_group("on-2", {TP("orders", 1): 1}, members=1, coordinator=2)
    return gateway


def orders(gateway):
    return [gateway.describe_topics(["orders"])["orders"]]


def test_everything_is_known_where_everybody_answers(fake):
    reader = ClusterReader(fake)
    records = total(reader.records(orders(fake)))
    assert (records.known, records.gaps) == (300, ())
    assert total(reader.leader_bytes(orders(fake))).known == 30_000
    groups = reader.groups()
    assert {name: use.state for name, use in groups.known.items()} == {
        "on-1": "Empty",
        "on-2": "Stable",
    }
    assert groups.gaps == ()
    assert reader.acls().gaps == ()


def test_a_silent_broker_is_named_and_asked_once(fake):
    fake.silent = {2}
    reader = ClusterReader(fake)
    away = (Gap("broker 2 did not answer", (2,)),)
    groups = reader.groups()
    assert (set(groups.known), groups.gaps) == ({"on-1"}, away)
    described, asked = orders(fake), len(fake.calls)
    records = total(reader.records(described))
    assert (records.known, records.gaps) == (200, away)
    assert len(fake.calls) - asked == 4, "two questions to each of the two brokers that answer"
    assert total(reader.leader_bytes(orders(fake))).gaps == away


def test_partitions_without_a_leader_are_counted_with_where_they_lie(fake):
    fake.remove_broker(2)
    records = total(ClusterReader(fake).records(orders(fake)))
    assert records.known == 200
    assert records.gaps == (Gap("1 partition has no leader (replica on 2)", (2,)),)


def test_groups_of_a_coordinator_that_is_gone_are_not_taken_for_none(fake):
    fake.add_topic(GROUP_TOPIC, partitions=3, rf=1)
    fake.remove_broker(2)
    groups = ClusterReader(fake).groups()
    assert set(groups.known) == {"on-1"}
    (gap,) = groups.gaps
    assert gap == Gap(f"1 partition of {GROUP_TOPIC} has no leader (replica on 2)", (2,))


def test_a_refusal_does_not_silence_the_broker_for_other_questions(fake):
    fake.fail_next("list_groups", GatewayError("COORDINATOR_LOAD_IN_PROGRESS", retriable=True))
    reader = ClusterReader(fake)
    groups = reader.groups()
    assert groups.gaps == (Gap("broker 1 refused (COORDINATOR_LOAD_IN_PROGRESS)", (1,)),)
    assert total(reader.records(orders(fake))).gaps == ()


def test_members_that_have_committed_nothing_use_their_topics_too(fake):
    fake.add_group("fresh", {}, members=1)
    fake.assign("fresh", [TP("orders", 2)])
    assert ClusterReader(fake).groups().known["fresh"].topics == {"orders"}


@pytest.mark.parametrize(
    "error", [unreachable("away"), GatewayError("CLUSTER_AUTHORIZATION_FAILED")]
)
def test_acls_that_cannot_be_read_are_not_none(fake, error):
    fake.fail_next("list_acls", error)
    found = ClusterReader(fake).acls()
    assert found.gaps == (Gap(f"the ACLs could not be read ({error.code})"),)


def test_a_cluster_without_an_authorizer_has_no_acls(fake):
    fake.fail_next("list_acls", GatewayError("SECURITY_DISABLED"))
    assert ClusterReader(fake).acls().gaps == ()


RECORDS = 90
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "8",
    "offsets.topic.replication.factor": "1",
}


@pytest.mark.cluster
@pytest.mark.timeout(180)
def test_one_of_three_real_brokers_is_killed(tmp_path):
    """Before the controller has seen it and after: what it alone held is unknown, not zero."""
    with local_cluster(tmp_path, brokers=3, settings=SETTINGS) as cluster:
        gateway = KafkaGateway(
            ConnectionSpec(bootstrap_servers=tuple(cluster.bootstrap.split(",")), timeout_s=5.0)
        )
        try:
            gateway.create_topic(NewTopic(name="orders", partitions=3, replication_factor=1))
            fill(cluster.bootstrap)
            groups = {f"readers-{number}" for number in range(6)}
            for group in groups:
                commit(cluster.bootstrap, group)
            whole = ClusterReader(gateway)
            assert total(whole.records(orders(gateway))) == total(whole.records(orders(gateway)))
            assert total(whole.records(orders(gateway))).known == RECORDS
            assert set(whole.groups().known) == groups
            assert whole.groups().gaps == whole.leader_bytes(orders(gateway)).gaps == ()

            before = orders(gateway)
            cluster.kill_broker(1, for_good=True)
            for _ in eventually(30, "the controller sees the broker gone"):
                # The first question may go to the broker that is gone.
                with contextlib.suppress(GatewayError):
                    now = orders(gateway)
                    if any(part.leader is None for part in now[0].partitions):
                        break
            for described, reason in (
                (before, "broker 1 did not answer"),
                (now, "1 partition has no leader (replica on 1)"),
            ):
                reader = ClusterReader(gateway)
                records = total(reader.records(described))
                assert records.known == RECORDS * 2 // 3
                assert records.gaps == (Gap(reason, (1,)),)
                assert total(reader.leader_bytes(described)).gaps == records.gaps
            found = ClusterReader(gateway).groups()
            assert set(found.known) < groups
            assert any(GROUP_TOPIC in gap.reason and gap.brokers == (1,) for gap in found.gaps)
        finally:
            gateway.close()


def fill(bootstrap):
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    for number in range(RECORDS):
        producer.produce("orders", b"x" * 50, partition=number % 3)
    assert producer.flush(20) == 0


def commit(bootstrap, group):
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    for _ in range(200):
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            consumer.commit(message, asynchronous=False)
            break
    else:
        raise AssertionError(f"{group} read nothing")
    consumer.close()
