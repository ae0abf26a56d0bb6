"""TLS with client certificates, asked by librdkafka; hostile bytes on a TLS port."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from tests.certificates import Authority, split_pem
from tests.conformance.raw_client import metrics
from tests.local_cluster import LocalCluster, eventually, local_cluster
from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

EXPIRY = 'penstock_tls_certificate_expiry_timestamp_seconds{listener="SSL"}'
HANDSHAKES = 'penstock_tls_handshakes{listener="SSL"}'


class Secured:
    """One broker whose TLS listener asks for certificates; `admin` is a super user by its own."""

    def __init__(self, cluster: LocalCluster, authority: Authority, keystore: Path, port: int):
        self.cluster, self.authority, self.keystore = cluster, authority, keystore
        self.metrics_port = port
        host, _, tls_port = cluster.bootstraps["SSL"].partition(":")
        self.address = (host, int(tls_port))

    def client(self, name: str | None, authority: Authority | None = None) -> dict[str, object]:
        """Settings of a client that shows a certificate for `name`, or none."""
        settings: dict[str, object] = {
            "bootstrap.servers": self.cluster.bootstraps["SSL"],
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.authority.file),
            "socket.timeout.ms": 5_000,
        }
        if name is not None:
            key, certificate = split_pem((authority or self.authority).issue(name))
            settings |= {"ssl.key.pem": key, "ssl.certificate.pem": certificate}
        return settings

    def audit_lines(self) -> list[dict[str, object]]:
        return [
            json.loads(line)
            for file in self.cluster.data_dir.glob("**/*.audit.log")
            for line in file.read_text().splitlines()
        ]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("mtls")
    authority = Authority(directory, "ours")
    keystore = directory / "keystore.pem"
    authority.issue("broker").replace(keystore)
    port = free_row(1)
    settings = {
        "penstock.metrics.port": str(port),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "ssl.principal.mapping.rules": "RULE:^CN=([a-z-]+)$/$1/",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
    }
    cluster_dir = tmp_path_factory.mktemp("mtls-cluster")
    with local_cluster(cluster_dir, brokers=1, settings=settings, listeners=["SSL"]) as started:
        yield Secured(started, authority, keystore, port)


@pytest.fixture
def admin(secured: Secured) -> AdminClient:
    return AdminClient(secured.client("admin"))


def produced(config: dict[str, object], topic: str) -> str | None:
    """The error's name, or None."""
    errors: list[str | None] = []
    producer = Producer({**config, "message.timeout.ms": 6_000})
    producer.produce(
        topic, b"v", on_delivery=lambda error, _m: errors.append(error.name() if error else None)
    )
    producer.flush(10)
    return errors[0]


def set_keystore(admin: AdminClient, file: Path) -> None:
    entry = ConfigEntry(
        "listener.name.ssl.ssl.keystore.location",
        str(file),
        incremental_operation=AlterConfigOpType.SET,
    )
    changed = ConfigResource(ConfigResource.Type.BROKER, "0", incremental_configs=[entry])
    admin.incremental_alter_configs([changed])[changed].result(10)


def test_a_mapped_principal_does_what_its_acls_allow(
    secured: Secured, admin: AdminClient, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)
    assert produced(secured.client("writer"), topic) == "TOPIC_AUTHORIZATION_FAILED"
    grant = AclBinding(
        ResourceType.TOPIC,
        topic,
        ResourcePatternType.LITERAL,
        "User:writer",
        "*",
        AclOperation.WRITE,
        AclPermissionType.ALLOW,
    )
    for future in admin.create_acls([grant]).values():
        future.result(10)
    for _ in eventually(15, "the grant is in force"):
        if produced(secured.client("writer"), topic) is None:
            break
    assert produced(secured.client("reader"), topic) == "TOPIC_AUTHORIZATION_FAILED"
    said = {
        (x["event"], x["principal"], x["operation"], x["outcome"]) for x in secured.audit_lines()
    }
    assert ("administered", "User:admin", "CREATE", "SUCCESS") in said
    assert ("administered", "User:admin", "CREATE_ACL", "SUCCESS") in said
    assert ("denied", "User:reader", "DESCRIBE", "DENIED") in said


def test_without_a_certificate_of_ours_nobody_is_let_in(
    secured: Secured, tmp_path: Path, topic: str
) -> None:
    theirs = Authority(tmp_path, "theirs")
    for client in (
        secured.client(None),
        secured.client("writer", theirs),
        secured.client("No Rule 1"),
    ):
        with pytest.raises(KafkaException):
            AdminClient(client).list_topics(timeout=3)
    events = [(x["event"], x["outcome"]) for x in secured.audit_lines()]
    assert ("handshake-failed", "CERTIFICATE") in events
    assert ("handshake-failed", "NO PRINCIPAL") in events


def test_a_certificate_is_renewed_under_a_producer_without_a_failed_record(
    secured: Secured, admin: AdminClient, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)
    failed: list[object] = []
    delivered: list[int] = []

    def on_delivery(error: object, message: object) -> None:
        delivered.append(1)
        if error is not None:
            failed.append(error)

    producer = Producer({**secured.client("admin"), "linger.ms": 5, "acks": "all"})

    def produce_for(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            producer.produce(topic, b"v" * 100, on_delivery=on_delivery)
            producer.poll(0.002)

    produce_for(1)
    before_s = metrics(secured.metrics_port)[EXPIRY]
    secured.authority.issue("broker", ends_in_h=100).replace(secured.keystore)
    # The same path again: the file is read at once, as Kafka's tools have it done.
    set_keystore(admin, secured.keystore)
    produce_for(1)
    assert metrics(secured.metrics_port)[EXPIRY] > before_s + 24 * 3600
    broken = secured.keystore.with_name("broken.pem")
    broken.write_text("no PEM")
    with pytest.raises(KafkaException):
        set_keystore(admin, broken)
    produce_for(1)
    assert produced(secured.client("admin"), topic) is None  # a new connection
    assert producer.flush(20) == 0
    assert failed == []
    assert len(delivered) > 100


@pytest.mark.parametrize("stream", [b"\0\0\0\x10\0\x12\0\3" + bytes(12), b"GET / HTTP/1.1\r\n\r\n"])
def test_bytes_that_are_no_tls_are_closed(secured: Secured, stream: bytes) -> None:
    name = 'penstock_tls_handshake_failures_total{reason="protocol"}'
    before = metrics(secured.metrics_port).get(name, 0)
    with socket.create_connection(secured.address, timeout=10) as sock:
        sock.sendall(stream)
        with contextlib.suppress(ConnectionError):
            while sock.recv(1 << 12):
                pass
    assert metrics(secured.metrics_port)[name] == before + 1


def test_thousands_of_half_open_connections_keep_nobody_out(
    secured: Secured, admin: AdminClient
) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(2_500):
            held.enter_context(socket.create_connection(secured.address, timeout=10))
        for _ in eventually(30, "those beyond the bound are displaced"):
            seen = metrics(secured.metrics_port)
            assert seen[HANDSHAKES] <= 1024
            if seen['penstock_tls_handshake_failures_total{reason="displaced"}'] > 1_000:
                break
        assert seen[HANDSHAKES] > 0
        for _ in range(3):
            fresh = AdminClient(secured.client("admin"))
            assert fresh.list_topics(timeout=5).brokers
        slow = held.enter_context(socket.create_connection(secured.address, timeout=30))
        slow.sendall(b"\x16\x03\x01\x02")
        started_s = time.monotonic()
        with contextlib.suppress(ConnectionError):
            assert slow.recv(1) == b""
        assert time.monotonic() - started_s < 15
    for _ in eventually(20, "all of them are gone"):
        if metrics(secured.metrics_port)[HANDSHAKES] == 0:
            break
    assert admin.list_topics(timeout=5).brokers
