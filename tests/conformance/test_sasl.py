"""SASL/SCRAM and ACLs, asked by foreign clients."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.wire.messages.metadata import MetadataRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.conformance.conftest import PASSWORDS
from tests.conformance.raw_client import ask, connected, framed, read_frame
from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


def login(
    cluster: LocalCluster, user: str, password: str, mechanism: str = "SCRAM-SHA-256"
) -> dict[str, object]:
    return {
        "bootstrap.servers": cluster.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


@pytest.fixture
def admin(sasl_cluster: LocalCluster) -> AdminClient:
    return AdminClient(login(sasl_cluster, "admin", PASSWORDS["admin"]))


def allow(
    user: str,
    kind: ResourceType,
    name: str,
    operation: AclOperation,
    *,
    deny: bool = False,
    prefixed: bool = False,
) -> AclBinding:
    return AclBinding(
        kind,
        name,
        ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        operation,
        AclPermissionType.DENY if deny else AclPermissionType.ALLOW,
    )


def create_acls(admin: AdminClient, *bindings: AclBinding) -> None:
    for future in admin.create_acls(list(bindings)).values():
        future.result(10)


def try_produce(config: dict[str, object], topic: str) -> str | None:
    """The error's name, or None."""
    errors: list[str | None] = []
    producer = Producer({**config, "message.timeout.ms": 8_000})
    producer.produce(
        topic, b"v", on_delivery=lambda error, _m: errors.append(error.name() if error else None)
    )
    producer.flush(12)
    return errors[0]


def until(expected: str | None, config: dict[str, object], topic: str) -> None:
    """Grants reach every broker a moment later."""
    deadline = time.monotonic() + 15
    while (seen := try_produce(config, topic)) != expected:
        assert time.monotonic() < deadline, f"{seen}, not {expected}"


def test_a_wrong_password_is_refused(sasl_cluster: LocalCluster) -> None:
    refused = AdminClient({**login(sasl_cluster, "admin", "wrong"), "socket.timeout.ms": 3000})
    with pytest.raises(KafkaException):
        refused.list_topics(timeout=3)


def test_users_and_grants_from_creation_to_revocation(
    sasl_cluster: LocalCluster, admin: AdminClient, topic: str, group: str
) -> None:
    user = f"user-{topic}"
    admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(20)
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion(user, info, b"pw")])[
        user
    ].result(10)
    described = admin.describe_user_scram_credentials([user])[user].result(10)
    assert described.scram_credential_infos[0].mechanism == ScramMechanism.SCRAM_SHA_512
    config = login(sasl_cluster, user, "pw", "SCRAM-SHA-512")
    time.sleep(0.5)
    assert try_produce(config, topic) == "TOPIC_AUTHORIZATION_FAILED"
    create_acls(
        admin, allow(user, ResourceType.TOPIC, topic[:8], AclOperation.WRITE, prefixed=True)
    )
    until(None, config, topic)
    create_acls(admin, allow(user, ResourceType.TOPIC, topic, AclOperation.WRITE, deny=True))
    until("TOPIC_AUTHORIZATION_FAILED", config, topic)
    everything = AclBindingFilter(
        ResourceType.ANY,
        None,
        ResourcePatternType.ANY,
        f"User:{user}",
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    assert len(admin.describe_acls(everything).result(10)) == 2
    admin.delete_acls([everything])[everything].result(10)
    assert admin.describe_acls(everything).result(10) == []
    deletion = UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_512)
    admin.alter_user_scram_credentials([deletion])[user].result(10)


def test_a_reader_needs_the_group_too(
    sasl_cluster: LocalCluster, admin: AdminClient, topic: str, group: str
) -> None:
    user = f"user-{topic}"
    admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(20)
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion(user, info, b"pw")])[
        user
    ].result(10)
    create_acls(
        admin,
        allow(user, ResourceType.TOPIC, topic, AclOperation.READ),
        allow(user, ResourceType.GROUP, group, AclOperation.READ),
    )
    assert try_produce(login(sasl_cluster, "admin", PASSWORDS["admin"]), topic) is None
    time.sleep(1)

    def read(group_id: str) -> tuple[bytes | None, str | None]:
        consumer = Consumer(
            {
                **login(sasl_cluster, user, "pw"),
                "group.id": group_id,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([topic])
        try:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                message = consumer.poll(0.5)
                if message is not None and message.error() is not None:
                    return None, message.error().name()
                if message is not None:
                    return message.value(), None
        finally:
            consumer.close()
        return None, None

    assert read(group) == (b"v", None)
    assert read("another") == (None, "GROUP_AUTHORIZATION_FAILED")


@pytest.mark.parametrize("password", [PASSWORDS["admin"], "wrong"])
def test_bare_tokens_follow_the_old_handshake(sasl_cluster: LocalCluster, password: str) -> None:
    client = ScramClient(PeerCredentials("admin", password, "SCRAM-SHA-256"), "nonce")
    with connected(sasl_cluster) as sock:
        assert ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 0).error_code == 0
        sock.sendall(framed(client.first()))
        challenge = read_frame(sock)
        assert challenge is not None
        sock.sendall(framed(client.final(challenge)))
        answer = read_frame(sock)
        if password == "wrong":
            assert answer is None
        else:
            assert answer is not None
            client.verify(answer)
            assert len(ask(sock, MetadataRequest(topics=[]), 9).brokers) == sasl_cluster.brokers
