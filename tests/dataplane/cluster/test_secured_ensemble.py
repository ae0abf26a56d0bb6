"""Brokers on a real ensemble with logins, ACLs and TLS everywhere: its leader goes, they go on."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from dataplane.ports.coordinator import NotAuthorizedError
from dataplane.runtime.parent_death import die_with_parent
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.certificates import Authority
from tests.local_cluster import ROOT, eventually
from tests.ports import free_row
from tests.zookeeper_ensemble import Secured, ensemble
from zookeeper_access import keys
from zookeeper_access.settings import ZooKeeperAccess

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]  # seconds, on a busy machine

USERS = {"super": "super-secret-1", "member": "member-secret-1"}
BROKERS = 2
PATIENCE_S = 90


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def servers(authority, tmp_path_factory):
    secured = Secured(USERS, authority.issue("server"), authority.file)
    with ensemble(tmp_path_factory.mktemp("ensemble"), secured=secured) as started:
        yield started


@pytest.fixture(scope="module")
def settings(authority):
    client = authority.issue("client")

    def of(cluster):
        return {
            keys.SSL_ENABLE: "true",
            keys.TRUSTSTORE_LOCATION: str(authority.file),
            keys.KEYSTORE_LOCATION: str(client),
            keys.SASL_USERNAME: "member",
            keys.SASL_PASSWORD: USERS["member"],
            keys.ACL_USERNAME: cluster,
            keys.ACL_PASSWORD: f"{cluster}-secret-1",
            keys.SET_ACL: "true",
        }

    return of


@pytest.fixture
def bootstrap(servers, settings, tmp_path):
    """Two brokers of one cluster, on the ensemble's TLS ports."""
    port = free_row(BROKERS)
    started = []
    for number in range(BROKERS):
        values = {
            **settings("kc_a"),
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://127.0.0.1:{port + number}",
            "log.dirs": str(tmp_path / f"logs-{number}"),
            "zookeeper.connect": f"{servers.secure_connect_string}/kc_a",
            "zookeeper.session.timeout.ms": "20000",
        }
        file = tmp_path / f"broker-{number}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        with (tmp_path / f"broker-{number}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dataplane", "broker", "--config", str(file)],
                    cwd=ROOT,
                    stdout=log,
                    stderr=log,
                    preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks taken
                )
            )
    yield ",".join(f"127.0.0.1:{port + number}" for number in range(BROKERS))
    for process in started:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        process.wait()


def create(admin, topic):
    """Again and again: brokers, or the servers' election, may be under way."""
    for _ in eventually(PATIENCE_S, f"topic {topic} is created"):
        with contextlib.suppress(KafkaException, TimeoutError):
            [future] = admin.create_topics([NewTopic(topic, 3, BROKERS)]).values()
            future.result(10)
        with contextlib.suppress(KafkaException):
            if topic in admin.list_topics(timeout=10).topics:
                break


async def test_brokers_go_on_when_the_leading_server_dies(servers, settings, bootstrap):
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    create(admin, "before")
    servers.kill(servers.leader())
    create(admin, "after")
    # Another server, the same rights.
    async with contextlib.AsyncExitStack() as undo:
        sessions = {}
        for cluster in ("kc_a", "kc_b"):
            sessions[cluster] = await ZooKeeperCoordinator.connect(
                servers.secure_connect_string, access=ZooKeeperAccess.parse(settings(cluster))
            )
            undo.push_async_callback(sessions[cluster].close)
        topics = await sessions["kc_a"].children("/kc_a/brokers/topics")
        assert set(topics) == {"before", "after"}
        with pytest.raises(NotAuthorizedError):
            await sessions["kc_b"].get("/kc_a/brokers/topics/before")
