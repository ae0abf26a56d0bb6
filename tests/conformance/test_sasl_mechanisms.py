"""Every SASL mechanism, with and without TLS, by two clients; and what must be refused."""

from __future__ import annotations

import base64
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.model.errors import ErrorCode as E
from dataplane.wire.messages.create_delegation_token import CreateDelegationTokenRequest
from dataplane.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from dataplane.wire.messages.metadata import MetadataRequest
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.certificates import Authority
from tests.conformance.conftest import PASSWORDS, QUICK, scram_credential
from tests.conformance.raw_client import ask, connected, read_frame
from tests.local_cluster import LocalCluster, eventually, local_cluster
from tests.token_issuer import AUDIENCE, ISSUER, Issuer

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

PROTOCOLS = ["SASL_PLAINTEXT", "SASL_SSL"]
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


class Secured(LocalCluster):
    issuer: Issuer
    authority: str


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Every mechanism on two listeners; the brokers themselves log in by PLAIN."""
    directory = tmp_path_factory.mktemp("mechanisms")
    authority = Authority(directory, "authority")
    issuer = Issuer()
    users = " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    settings = {
        **QUICK,
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,"
        + ",".join(f"{name}:{name}" for name in PROTOCOLS),
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin;User:peer",
        "penstock.inter.broker.username": "peer",
        "penstock.inter.broker.password": PASSWORDS["peer"],
        "penstock.bootstrap.scram": ",".join(
            scram_credential("admin", PASSWORDS["admin"], name)
            for name in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("broker")),
        "delegation.token.secret.key": "a key that all brokers have",
        "sasl.oauthbearer.jwks.endpoint.url": issuer.url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "listener.name.sasl_ssl.scram-sha-512.connections.max.reauth.ms": "3000",
        **{
            f"listener.name.{name.lower()}.plain.sasl.jaas.config": (
                f"{PLAIN_MODULE} required {users};"
            )
            for name in PROTOCOLS
        },
    }
    with local_cluster(
        directory / "data", brokers=2, settings=settings, listeners=PROTOCOLS
    ) as started:
        started.issuer, started.authority = issuer, str(authority.file)
        yield started
        assert not any(
            secret in line for secret in PASSWORDS.values() for line in started.output
        ), "no secret in what the brokers say"
    issuer.stop()


def librdkafka(
    cluster: Secured, protocol: str, mechanism: str, password: str = PASSWORDS["admin"]
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstraps[protocol],
        "security.protocol": protocol,
        "sasl.mechanism": mechanism,
        "ssl.ca.location": cluster.authority,
        "socket.timeout.ms": 5_000,
    }
    if mechanism != "OAUTHBEARER":
        return config | {"sasl.username": "admin", "sasl.password": password}
    changes = {} if password == PASSWORDS["admin"] else {"aud": password}
    return config | {
        "oauth_cb": lambda _: (cluster.issuer.token(**changes), time.time() + 300),
    }


class Provider(AbstractTokenProvider):
    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token


def kafka_python(
    cluster: Secured, protocol: str, mechanism: str, password: str = PASSWORDS["admin"]
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap_servers": cluster.bootstraps[protocol].split(","),
        "security_protocol": protocol,
        "sasl_mechanism": mechanism,
    }
    if protocol == "SASL_SSL":
        config["ssl_cafile"] = cluster.authority
    if mechanism != "OAUTHBEARER":
        return config | {"sasl_plain_username": "admin", "sasl_plain_password": password}
    changes = {} if password == PASSWORDS["admin"] else {"aud": password}
    return config | {"sasl_oauth_token_provider": Provider(cluster.issuer.token(**changes))}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_writes_and_reads(secured: Secured, protocol: str, mechanism: str) -> None:
    config = librdkafka(secured, protocol, mechanism)
    topic = f"topic-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.poll(0)
    admin.create_topics([NewTopic(topic, 1, 2)])[topic].result(20)
    producer = Producer(config)
    delivered: list[Any] = []
    producer.produce(
        topic, mechanism.encode(), on_delivery=lambda error, _: delivered.append(error)
    )
    producer.flush(15)
    assert delivered == [None]
    consumer = Consumer(config | {"group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    deadline = time.monotonic() + 20
    message = None
    while message is None and time.monotonic() < deadline:
        message = consumer.poll(1)
    consumer.close()
    assert message is not None
    assert message.value() == mechanism.encode()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_asks(secured: Secured, protocol: str, mechanism: str) -> None:
    admin = KafkaAdminClient(**kafka_python(secured, protocol, mechanism))
    try:
        assert len(admin.describe_cluster()["brokers"]) == 2
    finally:
        admin.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_hears_of_wrong_credentials(secured: Secured, mechanism: str) -> None:
    errors: list[str] = []
    config = librdkafka(secured, "SASL_SSL", mechanism, "wrong")
    producer = Producer(config | {"error_cb": lambda error: errors.append(error.name())})
    deadline = time.monotonic() + 10
    while "_AUTHENTICATION" not in errors:
        assert time.monotonic() < deadline, errors
        producer.poll(0.2)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_hears_of_wrong_credentials(secured: Secured, mechanism: str) -> None:
    config = kafka_python(secured, "SASL_SSL", mechanism, "wrong")
    with pytest.raises(KafkaError):
        KafkaAdminClient(**config, bootstrap_timeout_ms=3_000).describe_cluster()


def over(cluster: Secured) -> Secured:
    """The cluster as the raw client takes it: without TLS."""
    cluster.bootstrap = cluster.bootstraps["SASL_PLAINTEXT"]
    return cluster


def authenticate(sock: Any, token: bytes) -> Any:
    return ask(sock, SaslAuthenticateRequest(auth_bytes=token), 2)


def test_a_refusal_comes_late_and_closes(secured: Secured) -> None:
    with connected(over(secured)) as sock:
        assert ask(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == E.NONE
        started_s = time.monotonic()
        answer = authenticate(sock, b"\0admin\0wrong")
        assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
        assert time.monotonic() - started_s >= 0.1
        assert read_frame(sock) is None


def test_a_mechanism_that_is_not_there(secured: Secured) -> None:
    with connected(over(secured)) as sock:
        answer = ask(sock, SaslHandshakeRequest(mechanism="GSSAPI"), 1)
        assert answer.error_code == E.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == MECHANISMS
        assert read_frame(sock) is None


def test_replayed_scram_messages(secured: Secured) -> None:
    """What was recorded of a login opens nothing: the server's part of the nonce is another."""
    client = ScramClient(PeerCredentials("admin", PASSWORDS["admin"]), "nonce")
    with connected(over(secured)) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        first = client.first()
        final = client.final(bytes(authenticate(sock, first).auth_bytes))
        assert authenticate(sock, final).error_code == E.NONE
        assert len(ask(sock, MetadataRequest(topics=[]), 9).brokers) == 2
    with connected(secured) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        assert authenticate(sock, first).error_code == E.NONE
        assert authenticate(sock, final).error_code == E.SASL_AUTHENTICATION_FAILED
        assert read_frame(sock) is None


def test_hostile_tokens(secured: Secured) -> None:
    good = secured.issuer.token()
    head, body, signature = good.split(".")
    unsigned = "eyJhbGciOiJub25lIn0"
    for token in (
        f"{unsigned}.{body}.",
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        secured.issuer.token(lifetime_s=-60),
        secured.issuer.token(nbf=time.time() + 600),
        secured.issuer.token(aud="web"),
        secured.issuer.token(iss="https://evil"),
        "x" * 60_000,
    ):
        with connected(over(secured)) as sock:
            ask(sock, SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
            answer = authenticate(sock, f"n,,\x01auth=Bearer {token}\x01\x01".encode())
            assert bytes(answer.auth_bytes) == b'{"status": "invalid_token"}'
            assert authenticate(sock, b"\x01").error_code == E.SASL_AUTHENTICATION_FAILED
            assert read_frame(sock) is None
    with connected(over(secured)) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
        answer = authenticate(sock, b"n,,\x01auth=Bearer " + b"x" * 300_000 + b"\x01\x01")
        assert answer.error_code == E.SASL_AUTHENTICATION_FAILED


def test_a_token_bounds_its_session(secured: Secured) -> None:
    with connected(over(secured)) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="OAUTHBEARER"), 1)
        token = secured.issuer.token(lifetime_s=1.5)
        answer = authenticate(sock, f"n,,\x01auth=Bearer {token}\x01\x01".encode())
        assert answer.error_code == E.NONE
        assert 0 < answer.session_lifetime_ms <= 1_500
        assert len(ask(sock, MetadataRequest(topics=[]), 9).brokers) == 2
        time.sleep(1.7)
        assert ask(sock, MetadataRequest(topics=[]), 9) is None


class TokenClient(ScramClient):
    """Says that its user name is a delegation token's (KIP-48)."""

    def first(self) -> bytes:
        if not self._first_bare.endswith("tokenauth=true"):
            self._first_bare += ",tokenauth=true"
        return super().first()


def log_in_by_token(sock: Any, token_id: str, hmac: bytes) -> Any:
    """The last answer of the login."""
    password = base64.b64encode(hmac).decode()
    client = TokenClient(PeerCredentials(token_id, password, "SCRAM-SHA-512"), "nonce")
    ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-512"), 1)
    return authenticate(sock, client.final(bytes(authenticate(sock, client.first()).auth_bytes)))


def test_a_delegation_token_from_one_broker_logs_in_at_another(secured: Secured) -> None:
    with connected(over(secured)) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        authenticate(sock, f"\0admin\0{PASSWORDS['admin']}".encode())
        made = ask(sock, CreateDelegationTokenRequest(max_lifetime_ms=60_000), 3)
        assert made.error_code == E.NONE
        with connected(secured, broker=1) as other:
            answer = log_in_by_token(other, made.token_id, bytes(made.hmac))
            assert answer.error_code == E.NONE
            assert 0 < answer.session_lifetime_ms <= 60_000
            assert len(ask(other, MetadataRequest(topics=[]), 9).brokers) == 2
            again = ask(other, CreateDelegationTokenRequest(max_lifetime_ms=-1), 3)
            assert again.error_code == E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        ended = ExpireDelegationTokenRequest(hmac=bytes(made.hmac), expiry_time_period_ms=-1)
        assert ask(sock, ended, 2).error_code == E.NONE
    for _ in eventually(10, "the other broker knows that the token has ended"):
        with connected(secured, broker=1) as other:
            answer = log_in_by_token(other, made.token_id, bytes(made.hmac))
        if answer.error_code == E.SASL_AUTHENTICATION_FAILED:
            break


def test_librdkafka_outlives_its_sessions(secured: Secured) -> None:
    """It authenticates again by itself (KIP-368): nothing is lost, and no connection ends."""
    config = librdkafka(secured, "SASL_SSL", "SCRAM-SHA-512")
    topic = f"topic-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(config)
    admin.create_topics([NewTopic(topic, 1, 2)])[topic].result(20)
    errors: list[Any] = []
    producer = Producer(config | {"error_cb": errors.append, "linger.ms": 0})
    delivered: list[Any] = []
    for number in range(16):
        producer.produce(
            topic, str(number).encode(), on_delivery=lambda error, _: delivered.append(error)
        )
        producer.flush(10)
        time.sleep(0.5)
    assert delivered == [None] * 16
    assert errors == []
