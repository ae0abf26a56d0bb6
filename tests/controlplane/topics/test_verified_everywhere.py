"""Verification on three real brokers of which one is held up: it is asked too, and named."""

import os
import signal

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin import NewTopic as PlacedTopic

from controlplane.clusters.connections import use_gateways
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.operations import read_back
from tests.controlplane.support import drive, step
from tests.local_cluster import eventually, local_cluster
from tests.processes import hold_still

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture
def brokers(world, tmp_path):
    settings = {"zookeeper.session.timeout.ms": "60000"}
    with local_cluster(tmp_path, brokers=3, settings=settings) as started:
        servers = tuple(started.bootstrap.split(","))
        gateway = KafkaGateway(ConnectionSpec(bootstrap_servers=servers, timeout_s=4.0))
        use_gateways(lambda _cluster: gateway)
        started.gateway = gateway
        try:
            yield started
        finally:
            gateway.close()


def bystander(brokers):
    """A topic that one broker alone has, and a broker that has nothing to do with it."""
    controller = brokers.gateway.describe_cluster().controller_id
    away = next(broker for broker in range(3) if broker != controller)
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap})
    topic = PlacedTopic("orders", 1, replica_assignment=[[controller]])
    admin.create_topics([topic])["orders"].result(20)
    for broker in range(3):
        for _ in eventually(20, f"broker {broker} knows it"):
            if brokers.gateway.at(broker).describe_topics(["orders"]):
                break
    return away


def wait_for(operation, text):
    for _ in eventually(60, text):
        drive(operation, ticks=1)
        if text in step(operation, "verify").detail:
            return


def test_each_broker_answers_for_itself(brokers):
    away = bystander(brokers)
    pid = brokers.broker_pid(away)
    hold_still(pid)
    try:
        with pytest.raises(GatewayError) as caught:
            brokers.gateway.at(away).describe_topics(["orders"])
        assert caught.value.retriable
        for broker in {0, 1, 2} - {away}:
            assert brokers.gateway.at(broker).describe_topics(["orders"])
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_deletion_waits_for_the_broker_that_has_not_heard_of_it(world, brokers, monkeypatch):
    away = bystander(brokers)
    pid = brokers.broker_pid(away)
    controller = brokers.gateway.describe_cluster().controller_id

    def delete_without_it(name):
        # Not earlier: what a deletion hits is asked once more before it, of every broker. Sent to
        # the controller: a request that asked the held one first would end as unknown.
        hold_still(pid)
        admin = AdminClient({"bootstrap.servers": brokers.bootstrap.split(",")[controller]})
        admin.delete_topics([name])[name].result(20)

    monkeypatch.setattr(brokers.gateway, "delete_topic", delete_without_it)
    operation = world.start(world.plan("topic.delete", name="orders"))
    try:
        wait_for(operation, f"broker {away} did not answer; asked again")
        assert operation.state == "verifying"
    finally:
        os.kill(pid, signal.SIGCONT)
    for _ in eventually(40, "the operation ends"):
        if drive(operation, ticks=1).state == "succeeded":
            break
    assert step(operation, "verify").detail == "gone from every broker"
    assert not brokers.gateway.at(away).describe_topics(["orders"])


def test_a_broker_that_stays_silent_is_said_to_be_unknown(world, brokers, monkeypatch):
    monkeypatch.setattr(read_back, "UNKNOWN_S", 5.0)
    away = bystander(brokers)
    pid = brokers.broker_pid(away)
    plan = world.plan("topic.update", name="orders", configs={"retention.ms": "999999999"})
    operation = world.start(plan)
    hold_still(pid)
    try:
        for _ in eventually(60, "the operation ends"):
            if drive(operation, ticks=1).state == "succeeded":
                break
        said = step(operation, "verify").detail
        assert said == f"read back as planned; unknown: broker {away} did not answer"
    finally:
        os.kill(pid, signal.SIGCONT)
