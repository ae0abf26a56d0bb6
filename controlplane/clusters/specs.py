"""The configuration of a provisioned broker, and its first SCRAM credentials. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Protocol

BROKER_USER = "penstock-broker"
ADMIN_USER = "penstock-admin"
ADMIN_MECHANISM = "SCRAM-SHA-256"
SCRAM_ITERATIONS = 4096
OFFSETS_PARTITIONS = 8

# What the service decides; a tenant's own configuration may not touch it.
RESERVED = frozenset(
    {
        "broker.id",
        "broker.rack",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "zookeeper.connect",
        "log.dirs",
        "log.dir",
        "sasl.enabled.mechanisms",
        "authorizer.class.name",
        "super.users",
        "allow.everyone.if.no.acl.found",
    }
)


class BrokerView(Protocol):
    broker_id: int
    address: str
    rack: str
    client_port: int
    internal_port: int


def broker_config(
    broker: BrokerView,
    *,
    zookeeper: str,
    chroot: str,
    broker_count: int,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """Kafka's own keys; `log.dirs` is the agent's to set."""
    rf = min(3, broker_count)
    client = f"CLIENT://{broker.address}:{broker.client_port}"
    internal = f"INTERNAL://{broker.address}:{broker.internal_port}"
    config = {
        "broker.id": str(broker.broker_id),
        "broker.rack": broker.rack,
        "listeners": f"{client},{internal}",
        "advertised.listeners": f"{client},{internal}",
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        "zookeeper.connect": f"{zookeeper}{chroot}",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": ADMIN_MECHANISM,
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": f"User:{BROKER_USER};User:{ADMIN_USER}",
        "min.insync.replicas": str(min(2, rf)),
        "default.replication.factor": str(rf),
        "offsets.topic.replication.factor": str(rf),
        "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
        "transaction.state.log.replication.factor": str(rf),
        "transaction.state.log.min.isr": str(min(2, rf)),
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "500",
    }
    config.update(extra)
    return config


def secret_config(
    *, broker_password: str, admin_password: str, salts: Mapping[str, bytes]
) -> dict[str, str]:
    """What the agent merges into the configuration after unsealing it."""
    credentials = [
        f"{user}={scram_credential(password, salts[user])}"
        for user, password in ((BROKER_USER, broker_password), (ADMIN_USER, admin_password))
    ]
    return {
        "penstock.inter.broker.username": BROKER_USER,
        "penstock.inter.broker.password": broker_password,
        "penstock.bootstrap.scram": ",".join(credentials),
    }


def scram_credential(password: str, salt: bytes) -> str:
    """`SCRAM-SHA-256:<iterations>:<salt>:<stored key>:<server key>`, RFC 5802 §3."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, SCRAM_ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    fields = (salt, stored_key, server_key)
    encoded = ":".join(base64.b64encode(field).decode() for field in fields)
    return f"{ADMIN_MECHANISM}:{SCRAM_ITERATIONS}:{encoded}"


def desired_spec(
    *,
    cluster_id: str,
    broker_id: int,
    generation: int,
    state: str,
    config: Mapping[str, str],
    secret: str,
) -> dict[str, Any]:
    return {
        "v": 1,
        "cluster_id": cluster_id,
        "broker_id": broker_id,
        "generation": generation,
        "state": state,
        "config": dict(config),
        "secret": secret,
    }
