"""The gateways under one contract: the fake, and the real one on real brokers with SCRAM + ACLs."""

import pytest
from confluent_kafka import Consumer, Producer

from controlplane.clusters.specs import scram_credential
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.kafka import KafkaGateway
from tests.local_cluster import local_cluster

ADMIN, PASSWORD, BROKERS = "admin", "admin-secret", 3


def login(bootstrap, username=ADMIN, password=PASSWORD, mechanism="SCRAM-SHA-256"):
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": username,
        "sasl.password": password,
    }


@pytest.fixture(scope="session")
def secured(tmp_path_factory):
    """Three brokers that ask everybody for a user and an ACL; its bootstrap servers."""
    settings = {
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "2",
        "min.insync.replicas": "2",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": f"User:{ADMIN}",
        "penstock.inter.broker.username": ADMIN,
        "penstock.inter.broker.password": PASSWORD,
        "penstock.bootstrap.scram": f"{ADMIN}={scram_credential(PASSWORD, b'0123456789abcdef')}",
    }
    directory = tmp_path_factory.mktemp("gateway")
    with local_cluster(
        directory, brokers=BROKERS, settings=settings, listeners=["SASL_PLAINTEXT"]
    ) as started:
        yield started.bootstraps["SASL_PLAINTEXT"]


def spec_of(bootstrap, **changes):
    values = {
        "bootstrap_servers": tuple(bootstrap.split(",")),
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-256",
        "username": ADMIN,
        "password": PASSWORD,
        "timeout_s": 10.0,
    }
    return ConnectionSpec(**{**values, **changes})


@pytest.fixture(scope="session")
def kafka(secured):
    gateway = KafkaGateway(spec_of(secured))
    yield gateway
    gateway.close()


class FakeClients:
    """What clients do to a cluster, done to the fake."""

    def __init__(self, gateway):
        self.gateway = gateway

    def produce(self, topic, records):
        part = self.gateway.topics[topic].partitions[0]
        part.log_end += records
        part.timestamps_ms += [1_000 * (i + 1) for i in range(records)]

    def joined(self, group, topic):
        """A member that reads `topic`; returns what makes it leave."""
        del topic
        self.gateway.add_group(group, {}, members=1)

        def leave():
            self.gateway.set_members(group, 0)

        return leave


class RealClients:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    def produce(self, topic, records):
        producer = Producer({**login(self.bootstrap), "acks": "all"})
        for index in range(records):
            # Far enough in the past to differ, near enough to be kept.
            producer.produce(topic, b"x" * 100, partition=0, timestamp=1_000 * (index + 1))
        assert producer.flush(20) == 0

    def joined(self, group, topic):
        consumer = Consumer({**login(self.bootstrap), "group.id": group})
        consumer.subscribe([topic])
        for _ in range(200):
            consumer.poll(0.1)
            if consumer.assignment():
                return consumer.close
        raise AssertionError("the consumer got no partition")


@pytest.fixture(
    params=["fake", pytest.param("kafka", marks=[pytest.mark.cluster, pytest.mark.timeout(120)])]
)
def kind(request):
    return request.param


@pytest.fixture
def gateway(kind, request):
    return FakeGateway(brokers=BROKERS) if kind == "fake" else request.getfixturevalue("kafka")


@pytest.fixture
def clients(kind, gateway, request):
    if kind == "fake":
        return FakeClients(gateway)
    return RealClients(request.getfixturevalue("secured"))
