"""The cluster that the contract is run against: three brokers, PLAINTEXT and SASL over TLS, ACLs on."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dataplane.config.sasl import PLAIN_MODULE
from dataplane.security.scram import ScramCredential, ScramMechanism
from tests.certificates import Authority
from tests.local_cluster import LocalCluster, local_cluster

PASSWORDS = {"admin": "admin-secret", "alice": "alice-secret"}
LISTENER = "SASL_SSL"


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
def contract_cluster(directory: Path) -> Iterator[tuple[LocalCluster, Path]]:
    """The cluster and the file of the authority that its certificates are by.

    Whoever comes in by PLAINTEXT may do everything, as may `admin`; `alice` may do nothing.
    """
    authority = Authority(directory, "authority")
    keystore = authority.issue("broker")
    users = " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    settings = {
        "group.initial.rebalance.delay.ms": "100",
        "group.min.session.timeout.ms": "1000",
        "offsets.topic.num.partitions": "4",
        "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{LISTENER}:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{PLAIN_MODULE} required {users};",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin",
        "penstock.bootstrap.scram": _scram(),
    }
    with local_cluster(directory / "data", settings=settings, listeners=[LISTENER]) as cluster:
        yield cluster, authority.file
