"""Whatever answers at an address: which step it fails at, by which code, and for how long."""

import socket
import struct
import time

import pytest

from controlplane.gateway.authentication import way_in
from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.egress import PUBLIC_ONLY, policy_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.probe import probe, probe_all, split_address
from controlplane.gateway.probe_wire import FRAME_MAX_BYTES
from tests.certificates import Authority
from tests.controlplane.gateway.conftest import spec_of
from tests.controlplane.gateway.peers import (
    forwarding,
    greeting,
    hanging_up,
    http_server,
    over_tls,
    saying,
    serving,
    silent,
)
from tests.controlplane.gateway.token_endpoint import token_endpoint

LIMIT_S = 1.0
FOR_EVER_S = 20.0
"""A peer that hangs would hold whoever has no deadline for longer."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


def plain(**changes):
    return ConnectionSpec(bootstrap_servers=("unused:1",), **changes)


def tls(authority, **changes):
    return plain(security_protocol="SSL", ca_pem=authority.file.read_text(), **changes)


def looked_at(address, spec=None):
    """(step, code) of what the probe found, in time."""
    began_s = time.monotonic()
    result = probe(address, spec or plain(), timeout_s=LIMIT_S)
    assert time.monotonic() - began_s < FOR_EVER_S
    assert result.address == address
    return result.step.value, result.code, result.text


def answer(body, correlation=1):
    return struct.pack(">ii", len(body) + 4, correlation) + body


API_VERSIONS = struct.pack(">hi", 0, 0)


def test_a_name_that_nobody_has():
    assert looked_at("no-such-host.invalid:9092")[:2] == ("dns", "dns-failed")
    assert looked_at("nonsense")[:2] == ("dns", "dns-failed")


def test_an_address_that_is_not_allowed():
    spec = plain(egress=PUBLIC_ONLY)
    with serving(silent) as address:
        assert looked_at(address, spec)[:2] == ("dns", "egress-refused")


def test_nobody_listens():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        found = looked_at(f"127.0.0.1:{held.getsockname()[1]}")
    assert found[:2] == ("connect", "connect-refused")


def test_a_black_hole_costs_the_time_given():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        held = []
        for _ in range(4):  # the queue is full then: nothing more is answered
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(address)
            held.append(one)
        found = looked_at(f"127.0.0.1:{address[1]}")
        for one in held:
            one.close()
    assert found[1] in {"connect-timeout", "not-kafka"}


def test_an_http_server_is_no_kafka():
    with http_server() as address:
        step, code, text = looked_at(address)
    assert (step, code) == ("kafka", "not-kafka")
    assert "an HTTP server" in text


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "SSH"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP"),
        (b"-ERR unknown command\r\n", "Redis"),
        (b"220 mail.example ESMTP\r\n", "mail"),
        (struct.pack(">i", FRAME_MAX_BYTES + 1), "no frame"),
        (struct.pack(">i", -1), "no frame"),
        (answer(API_VERSIONS, correlation=9), "another question"),
        (answer(b""), "cut short"),
        (answer(struct.pack(">hi", 42, 0)), "error 42"),
    ],
)
@pytest.mark.parametrize("when", [saying, greeting])
def test_what_is_not_kafka_is_said_as_what_it_is(said, word, when):
    with serving(when(said)) as address:
        step, code, text = looked_at(address)
    assert (step, code) == ("kafka", "not-kafka")
    assert word in text


def test_a_listener_that_says_nothing():
    with serving(silent) as address:
        step, code, text = looked_at(address)
    assert (step, code) == ("kafka", "not-kafka")
    assert "does not answer" in text


def test_a_peer_that_hangs_up():
    with serving(hanging_up) as address:
        assert looked_at(address)[:2] == ("kafka", "not-kafka")


def test_a_peer_that_drips_is_left_at_the_deadline():
    def dripping(connection):
        connection.sendall(struct.pack(">i", 60_000))
        while True:
            connection.sendall(b"\0")
            time.sleep(0.05)

    with serving(dripping) as address:
        assert looked_at(address)[:2] == ("kafka", "not-kafka")


def test_a_tls_server_asked_in_the_clear(authority):
    with serving(over_tls(silent, authority.issue("plainly"))) as address:
        step, code, _ = looked_at(address)
    assert (step, code) == ("kafka", "not-kafka")


def test_tls_failures_have_a_code_each(authority, tmp_path):
    stranger = Authority(tmp_path, "stranger")
    for certificate, code in (
        (authority.issue("expired", ends_in_h=-1), "tls-expired"),
        (authority.issue("elsewhere", host="127.0.0.2"), "tls-wrong-host"),
        (authority.issue("named", host="kafka.example"), "tls-wrong-host"),
        (stranger.issue("unknown"), "tls-unknown-authority"),
    ):
        with serving(over_tls(silent, certificate)) as address:
            assert looked_at(address, tls(authority))[:2] == ("tls", code)


def test_an_http_server_answers_a_tls_hello_in_the_clear(authority):
    with http_server() as address:
        assert looked_at(address, tls(authority))[:2] == ("tls", "tls-plaintext-answered")


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        (hanging_up, "tls-plaintext-answered"),
        (silent, "tls-failed"),
        (greeting(b"SSH-2.0-OpenSSH_9.2p1\r\n"), "tls-plaintext-answered"),
    ],
)
def test_a_port_without_tls(authority, handle, code):
    with serving(handle) as address:
        assert looked_at(address, tls(authority))[:2] == ("tls", code)


def test_a_client_s_certificate_is_wanted(authority):
    certificate = authority.issue("wants-one")
    wanting = over_tls(saying(answer(API_VERSIONS)), certificate, client_authority=authority.file)
    with serving(wanting) as address:
        assert looked_at(address, tls(authority))[:2] == ("tls", "tls-certificate-wanted")


def test_a_name_is_checked_though_an_address_was_pinned(authority):
    """The certificate must be of the name that was registered, not of where it led."""
    certificate = authority.issue("by-address", host="127.0.0.1")
    with serving(over_tls(silent, certificate)) as address:
        port = address.rpartition(":")[2]
        assert looked_at(f"localhost:{port}", tls(authority))[:2] == ("tls", "tls-wrong-host")


def test_certificates_that_are_none_are_a_failure_of_tls():
    with serving(silent) as address:
        spec = plain(security_protocol="SSL", ca_pem="nonsense")
        assert looked_at(address, spec)[:2] == ("tls", "bad-certificates")


def test_a_token_that_is_not_given_is_a_failure_of_the_login(authority):
    handshake = answer(struct.pack(">hi", 0, 0), correlation=2)

    def broker(connection):
        connection.recv(65536)
        connection.sendall(answer(API_VERSIONS))
        connection.recv(65536)
        connection.sendall(handshake)
        silent(connection)

    with (
        token_endpoint(authority.issue("idp"), [(401, {"error": "invalid_client"})]) as (url, _),
        serving(broker) as address,
    ):
        spec = plain(
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            ca_pem=authority.file.read_text(),
            oauth=OAuthClient(token_url=url, client_id="me", client_secret="wrong"),
        )
        assert looked_at(address, spec)[:2] == ("login", "token-refused")


def test_a_token_endpoint_obeys_the_policy(authority):
    handshake = answer(struct.pack(">hi", 0, 0), correlation=2)

    def broker(connection):
        connection.recv(65536)
        connection.sendall(answer(API_VERSIONS))
        connection.recv(65536)
        connection.sendall(handshake)
        silent(connection)

    certificate = authority.issue("idp-2")
    with (
        token_endpoint(certificate, [(200, {"access_token": "t"})]) as (url, requests),
        serving(broker, host="127.0.0.2") as address,
    ):
        spec = plain(
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            ca_pem=authority.file.read_text(),
            oauth=OAuthClient(token_url=url, client_id="me", client_secret="s"),
            egress=policy_of(["127.0.0.2/32"]),
        )
        step, code, text = looked_at(address, spec)
    assert (step, code, requests) == ("login", "token-refused", [])
    assert "loopback" in text


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("a:1", ("a", 1)),
        ("[::1]:9092", ("::1", 9092)),
        ("kafka.example.:9092", ("kafka.example", 9092)),
    ],
)
def test_addresses_are_host_and_port(address, parts):
    assert split_address(address) == parts


def test_several_are_looked_at_at_once():
    with serving(silent) as one, serving(silent) as two:
        began_s = time.monotonic()
        found = probe_all([one, two, one, two], plain(), timeout_s=LIMIT_S)
    assert [row.address for row in found] == [one, two, one, two]
    assert time.monotonic() - began_s < 3 * LIMIT_S, (
        "it takes four times as long one after the other"
    )
    with pytest.raises(ValueError, match="8"):
        probe_all(["a:1"] * 9, plain(), timeout_s=LIMIT_S)


def test_the_first_address_that_lets_us_in_is_enough():
    def kafka(connection):
        connection.recv(65536)
        connection.sendall(answer(API_VERSIONS))
        connection.recv(65536)
        connection.sendall(answer(struct.pack(">i", 0), correlation=2))

    with serving(hanging_up) as bad, serving(kafka) as good:
        assert way_in(ConnectionSpec(bootstrap_servers=(bad, good), timeout_s=5.0)) == good
        with pytest.raises(GatewayError) as caught:
            way_in(ConnectionSpec(bootstrap_servers=(bad,), timeout_s=5.0))
    assert caught.value.as_problem().status == 503


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_real_kafka_lets_us_in_or_says_why_not(secured):
    address = secured.split(",")[0]
    assert looked_at(address, spec_of(address))[:2] == ("login", "")
    for changes, code in (
        ({"password": "wrong"}, "SASL_AUTHENTICATION_FAILED"),
        ({"username": "nobody"}, "SASL_AUTHENTICATION_FAILED"),
        ({"sasl_mechanism": "PLAIN"}, "UNSUPPORTED_SASL_MECHANISM"),
        ({"security_protocol": "PLAINTEXT", "sasl_mechanism": None}, "login-wanted"),
    ):
        step, found, text = looked_at(address, spec_of(address, **changes))
        assert (step, found) == ("login", code), text
    assert "SCRAM-SHA-256" in looked_at(address, spec_of(address, sasl_mechanism="PLAIN"))[2]


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_brokers_that_a_kafka_advertises_obey_the_policy_too(secured):
    """What metadata names is the peer's word: it leads to this machine, which is not allowed."""
    broker = secured.split(",")[0]
    with serving(forwarding(broker), host="127.0.0.2") as address:
        spec = spec_of(address, egress=policy_of(["127.0.0.2/32"]), timeout_s=4.0)
        assert looked_at(address, spec)[1] == ""
        gateway = KafkaGateway(spec)
        began_s = time.monotonic()
        with pytest.raises(GatewayError) as caught:
            gateway.list_topics()
        gateway.close()
    assert time.monotonic() - began_s < 8
    assert caught.value.code == "egress-refused"
