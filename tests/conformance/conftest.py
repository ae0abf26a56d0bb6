"""Clusters that the tests of foreign clients share."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import uuid
from typing import TYPE_CHECKING

import pytest

from tests.conformance import java_tools
from tests.conformance.raw_client import offered_versions
from tests.local_cluster import LocalCluster, local_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PASSWORDS = {"admin": "admin-secret", "peer": "peer-secret"}
QUICK = {"group.initial.rebalance.delay.ms": "100", "offsets.topic.num.partitions": "4"}


def scram_credential(
    user: str, password: str, mechanism: str = "SCRAM-SHA-256", iterations: int = 4096
) -> str:
    """One entry of `penstock.bootstrap.scram`, computed as RFC 5802 says."""
    salt, name = os.urandom(16), f"sha{mechanism[-3:]}"
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    stored = hashlib.new(name, hmac.digest(salted, b"Client Key", name)).digest()
    server = hmac.digest(salted, b"Server Key", name)
    parts = ":".join(base64.b64encode(part).decode() for part in (salt, stored, server))
    return f"{user}={mechanism}:{iterations}:{parts}"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path_factory.mktemp("plain"), settings=QUICK) as started:
        yield started


@pytest.fixture(scope="session")
def sasl_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """SCRAM for everybody, ACLs on; `admin` is a super user."""
    settings = {
        **QUICK,
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin;User:peer",
        "penstock.inter.broker.username": "peer",
        "penstock.inter.broker.password": PASSWORDS["peer"],
        "delegation.token.secret.key": "a key that all brokers have",
        "penstock.bootstrap.scram": ",".join(
            scram_credential(user, password) for user, password in PASSWORDS.items()
        ),
    }
    with local_cluster(
        tmp_path_factory.mktemp("sasl"),
        settings=settings,
        listeners=["SASL_PLAINTEXT"],
    ) as started:
        started.bootstrap = started.bootstraps["SASL_PLAINTEXT"]
        yield started


@pytest.fixture(scope="session")
def java_runner() -> Iterator[java_tools.JavaTools]:
    if reason := java_tools.unavailable():
        pytest.skip(reason)
    with java_tools.java_tools() as started:
        yield started


@pytest.fixture(scope="session")
def tool(java_runner: java_tools.JavaTools, cluster: LocalCluster) -> java_tools.ClusterTools:
    """Kafka's own tools, pointed at the plain cluster."""
    return java_tools.ClusterTools(java_runner, cluster.bootstrap)


@pytest.fixture(scope="session")
def sasl_tool(
    java_runner: java_tools.JavaTools,
    sasl_cluster: LocalCluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], java_tools.ClusterTools]:
    """The tools of a user of the cluster with SASL and ACLs, by name; passwords are PASSWORDS."""
    directory = tmp_path_factory.mktemp("java")

    def made(user: str) -> java_tools.ClusterTools:
        path = directory / f"{user}.properties"
        path.write_text(scram_properties(user, PASSWORDS[user]))
        return java_tools.ClusterTools(java_runner, sasl_cluster.bootstrap, path)

    return made


def scram_properties(user: str, password: str, mechanism: str = "SCRAM-SHA-256") -> str:
    """A Java client's configuration."""
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return (
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
        f'sasl.jaas.config={module} required username="{user}" password="{password}";\n'
    )


@pytest.fixture
def offered(cluster: LocalCluster) -> Callable[..., None]:
    """Skips the test unless the brokers offer these APIs, by name."""
    versions = offered_versions(cluster.bootstrap)

    def check(*names: str) -> None:
        if absent := [name for name in names if name not in versions]:
            pytest.skip(f"not offered by the brokers: {', '.join(absent)}")

    return check


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def group() -> str:
    return f"group-{uuid.uuid4().hex[:8]}"
