"""What is looked at before Spark connects by itself: names, what a Kafka advertises, tokens."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from controlplane.analytics import ways_in
from controlplane.analytics.ways_in import look
from controlplane.gateway import egress
from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.egress import PUBLIC_ONLY, policy_of
from controlplane.gateway.errors import unreachable
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import BrokerNode
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from tests.certificates import Authority
from tests.controlplane.gateway.token_endpoint import token_endpoint

NAMES = {
    "one.example": ["203.0.113.1", "2001:db8::1"],
    "two.example": ["203.0.113.2"],
    "inside.example": ["10.0.0.7"],
    "both.example": ["203.0.113.3", "10.0.0.8"],
}
DOCUMENTED = policy_of(["203.0.113.0/24", "2001:db8::/32"])


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """A name service of its own; what is no name is read by the system's resolver."""
    real = socket.getaddrinfo

    def answer(host, port, **options):
        if host.rstrip(".") in NAMES:
            return [row for text in NAMES[host.rstrip(".")] for row in real(text, port, **options)]
        if host.endswith(".example"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, port, **options)

    monkeypatch.setattr(egress.socket, "getaddrinfo", answer)


def looked(*advertised, bootstrap=("one.example:9092",), policy=DOCUMENTED, topic_id=None):
    gateway = FakeGateway(brokers=0)
    if topic_id is not None:
        gateway.brokers = {1: BrokerNode(id=1, host="one.example", port=9092)}
        gateway.add_topic(TELEMETRY_TOPIC, rf=1)
        gateway.topics[TELEMETRY_TOPIC].topic_id = topic_id
    gateway.brokers = {
        number: BrokerNode(id=number, host=host, port=9092)
        for number, host in enumerate(advertised, 1)
    }
    return look(ConnectionSpec(bootstrap_servers=bootstrap, egress=policy), gateway)


def test_every_name_comes_with_its_addresses():
    way = looked("two.example.", "203.0.113.9")
    assert (way.refusal, way.bootstrap_servers) == ("", ("one.example:9092",))
    assert way.hosts == {
        "one.example": ("203.0.113.1", "2001:db8::1"),
        "one.example.": ("203.0.113.1", "2001:db8::1"),
        "two.example": ("203.0.113.2",),
        "two.example.": ("203.0.113.2",),
    }


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("10.0.0.7", "private"),
        ("127.0.0.1", "loopback"),
        ("169.254.169.254", "link-local"),
        ("::1", "loopback"),
        ("::ffff:10.0.0.7", "private"),
        ("inside.example", "private"),
        ("both.example", "private"),
    ],
)
def test_a_kafka_that_sends_its_clients_elsewhere_is_not_read(host, said):
    assert said in looked("two.example", host).refusal
    server = f"[{host}]:9092" if ":" in host else f"{host}:9092"
    assert said in looked("two.example", bootstrap=(server,)).refusal


@pytest.mark.parametrize("host", ["0313.0.0161.1", "0xcb007101", "203.113", "3405803777"])
def test_what_java_may_read_as_another_address_is_not_read(host):
    """All of these are public or allowed addresses to the system's resolver."""
    policy = policy_of(["203.0.0.0/8", "2001:db8::/32"])
    assert "no plain name" in looked(host, policy=policy).refusal


def test_a_name_without_an_address_is_left_out():
    way = looked("two.example", "gone.example", bootstrap=("gone.example:1", "one.example:2"))
    assert (way.refusal, way.bootstrap_servers) == ("", ("one.example:2",))
    assert "gone.example" not in way.hosts
    assert looked("two.example", bootstrap=("gone.example:1",)).refusal


def test_the_run_is_told_which_telemetry_topic_is_there():
    assert looked("two.example").telemetry_topic_id is None
    assert looked("two.example", topic_id="").telemetry_topic_id is None
    assert looked("two.example", topic_id="s1-D_x").telemetry_topic_id == "s1-D_x"


def test_a_cluster_that_does_not_answer_is_refused_with_the_reason():
    gateway = FakeGateway(brokers=1)
    gateway.fail_next("describe_cluster", unreachable("nobody there"))
    spec = ConnectionSpec(bootstrap_servers=("one.example:1",))
    assert look(spec, gateway).refusal == "nobody there"


def with_tokens(url, authority, policy):
    client = OAuthClient(token_url=url, client_id="me", client_secret="hunter2")
    return ConnectionSpec(
        bootstrap_servers=("one.example:9092",),
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        ca_pem=authority.file.read_text(),
        oauth=client,
        egress=policy,
    )


def test_a_token_is_had_by_the_policy_and_has_its_whole_life_before_it(tmp_path):
    authority = Authority(tmp_path, "authority")
    answers = [(200, {"access_token": f"tok-{n}", "expires_in": 300}) for n in range(2)]
    gateway = FakeGateway(brokers=0)
    with token_endpoint(authority.issue("issuer"), answers) as (url, requests):
        allowed = policy_of(["127.0.0.1/32", "203.0.113.0/24", "2001:db8::/32"])
        spec = with_tokens(url, authority, allowed)
        assert [look(spec, gateway).token for _ in range(2)] == ["tok-0", "tok-1"]
        assert "tok-" not in repr(look(spec, gateway))
        asked = len(requests)
        refused = look(with_tokens(url, authority, DOCUMENTED), gateway)
        assert len(requests) == asked
    assert "loopback" in refused.refusal
    assert refused.token is None


def test_who_takes_too_long_holds_up_nobody(world, monkeypatch):
    ended = threading.Event()
    slow = FakeGateway(brokers=1)
    monkeypatch.setattr(slow, "describe_cluster", lambda: ended.wait(30))
    monkeypatch.setattr(ways_in, "gateway_for", lambda _: slow)
    began_s = time.monotonic()
    found = ways_in.ways_in([world.cluster], timeout_s=0.2)
    assert time.monotonic() - began_s < 5
    ended.set()
    assert "no time" in found[world.cluster.id].refusal


def test_the_policy_of_strangers_refuses_this_machine():
    assert "loopback" in looked(bootstrap=("localhost:1",), policy=PUBLIC_ONLY).refusal
