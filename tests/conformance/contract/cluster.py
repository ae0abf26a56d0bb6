"""The cluster that the contract is run against: three brokers, PLAINTEXT and SASL over TLS, ACLs on."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

from dataplane.config.sasl import PLAIN_MODULE
from dataplane.security.scram import ScramCredential, ScramMechanism
from tests.certificates import Authority
from tests.local_cluster import LocalCluster, local_cluster
from tests.token_issuer import AUDIENCE, ISSUER, Issuer

PASSWORDS = {"admin": "admin-secret", "alice": "alice-secret"}
LISTENER = "SASL_SSL"
TOKEN_LIFETIME_S = 7200.0


@dataclasses.dataclass(frozen=True, slots=True)
class ContractCluster:
    """`authority` is the file of whom the brokers' certificates are by; `tokens` are web tokens by name."""

    cluster: LocalCluster
    authority: Path
    tokens: dict[str, str]


def _scram() -> str:
    entries = []
    for user, password in PASSWORDS.items():
        for mechanism in ScramMechanism:
            made = ScramCredential.from_password(mechanism, password, os.urandom(16), 4096)
            parts = (made.salt, made.stored_key, made.server_key)
            words = ":".join(base64.b64encode(part).decode() for part in parts)
            entries.append(f"{user}={mechanism.sasl_name}:4096:{words}")
    return ",".join(entries)


@contextlib.contextmanager
def contract_cluster(directory: Path) -> Iterator[ContractCluster]:
    """The cluster. Whoever comes in by PLAINTEXT may do everything, as may `admin`; `alice` nothing."""
    authority, issuer = Authority(directory, "authority"), Issuer()
    tokens = {
        "admin": issuer.token(TOKEN_LIFETIME_S),
        "wrong": issuer.token(TOKEN_LIFETIME_S, aud="another service"),
    }
    settings = _settings(authority.issue("broker"), issuer.url)
    try:
        with local_cluster(directory / "data", settings=settings, listeners=[LISTENER]) as cluster:
            yield ContractCluster(cluster, authority.file, tokens)
    finally:
        issuer.stop()


def _settings(keystore: Path, jwks_url: str) -> dict[str, str]:
    users = " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    return {
        "group.initial.rebalance.delay.ms": "100",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "3000",
        "group.consumer.session.timeout.ms": "6000",
        "group.consumer.min.heartbeat.interval.ms": "500",
        "group.consumer.heartbeat.interval.ms": "1000",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.num.partitions": "4",
        "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{LISTENER}:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {users};",
        "sasl.oauthbearer.jwks.endpoint.url": jwks_url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "delegation.token.secret.key": "a key that all brokers have",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin",
        "penstock.bootstrap.scram": _scram(),
    }
