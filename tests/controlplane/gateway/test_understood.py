"""Answers that no Kafka gives end in a GatewayError, by the real gateway over a library's client."""

import logging

import pytest

from controlplane.common.once_a_minute import OnceAMinute
from controlplane.gateway import kafka_link, understood
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import MALFORMED, GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.port import READS
from controlplane.gateway.types import TP

TOPIC = {"error_code": 0, "name": "orders", "is_internal": False}
PART = {"partition_index": 0, "leader_id": 1, "replica_nodes": [1], "isr_nodes": [1]}


class Admin:
    """The library's client: each call answers `answer`, or raises it."""

    def __init__(self, answer):
        self.answer, self.is_closed = answer, False

    def close(self):
        self.is_closed = True

    def __getattr__(self, name):
        def call(*_, **__):
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return call


@pytest.fixture
def gateway_of(monkeypatch):
    opened = []
    monkeypatch.setattr(kafka_link, "way_in", lambda _: "a:1")
    monkeypatch.setattr(kafka_link, "client_settings", lambda *_: {})

    def make(answer):
        gateway = KafkaGateway(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=30.0))
        gateway.made = []

        def connect(**_):
            gateway.made.append(Admin(answer))
            return gateway.made[-1]

        monkeypatch.setattr(kafka_link, "KafkaAdminClient", connect)
        opened.append(gateway)
        return gateway

    yield make
    for gateway in opened:
        gateway.close()


@pytest.mark.parametrize(
    "answer",
    [
        [{**TOPIC, "partitions": [{**PART, "replica_nodes": None}]}],
        [{**TOPIC, "partitions": None}],
        [{**TOPIC, "partitions": [{**PART, "leader_id": "one"}]}],
        [{"error_code": 0}],
        None,
        7,
    ],
)
def test_an_answer_that_cannot_be_taken_apart_is_a_refusal_of_its_own(gateway_of, answer):
    gateway = gateway_of(answer)
    for read in (gateway.list_topics, lambda: gateway.describe_topics(["orders"])):
        with pytest.raises(GatewayError) as caught:
            read()
        assert (caught.value.code, caught.value.retriable) == (MALFORMED, True)
        assert caught.value.as_problem().status == 503


@pytest.mark.parametrize(
    "error", [TypeError("x"), IndexError("x"), KeyError("x"), ValueError("x"), OverflowError("x")]
)
def test_what_the_library_makes_of_nonsense_costs_the_client(gateway_of, error):
    gateway = gateway_of(error)
    for number in (1, 2):
        with pytest.raises(GatewayError) as caught:
            gateway.describe_cluster()
        assert caught.value.code == MALFORMED
        assert len(gateway.made) == number, "the next question has a client of its own"


def test_a_write_of_unknown_end_is_no_read(gateway_of):
    with pytest.raises(TypeError):
        gateway_of(TypeError("x")).reassign({TP("orders", 0): [1]})


def test_every_read_is_so():
    assert all(hasattr(getattr(KafkaGateway, name), "__wrapped__") for name in READS - {"close"})


def test_why_is_in_the_log_once_a_minute(gateway_of, caplog, monkeypatch):
    monkeypatch.setattr(understood, "SAID", OnceAMinute(None, monotonic=lambda: 1.0))
    gateway = gateway_of(TypeError("no list"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with pytest.raises(GatewayError):
                gateway.describe_cluster()
    assert len([each for each in caplog.records if each.exc_info]) == 1
