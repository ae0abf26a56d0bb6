"""Real brokers of two clusters on one ZooKeeper that asks for logins: every node has its owner."""

from __future__ import annotations

import asyncio
import logging
import pathlib
import subprocess
import sys

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from kazoo.security import Id

from dataplane.ports.coordinator import NotAuthorizedError
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.ports import free_row
from zookeeper_access import keys
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

ROOT = pathlib.Path(__file__).resolve().parents[3]
USERS = {"super": "super-secret-1", "member": "member-secret-1"}
SECRETS = ("member-secret-1", "kc_a-secret-1", "kc_b-secret-1")
START_TIMEOUT_S = 40
SUPER_USER = ZooKeeperAccess(sasl=Login("super", USERS["super"]))


def login(cluster):
    return {
        keys.SASL_USERNAME: "member",
        keys.SASL_PASSWORD: USERS["member"],
        keys.ACL_USERNAME: cluster,
        keys.ACL_PASSWORD: f"{cluster}-secret-1",
        keys.SET_ACL: "true",
        keys.ACL_ADMINISTRATORS: "sasl:controlplane",
    }


class Stage:
    """A ZooKeeper, and brokers by the name of their cluster."""

    def __init__(self, directory):
        self.directory = directory
        self.zookeeper = EmbeddedZooKeeper(directory / "zk", fsync=False, users=USERS)
        self.zookeeper.start()
        self.brokers = {}
        self.bootstrap = {}

    def start(self, cluster, **settings):
        port = free_row(1)
        home = self.directory / cluster
        home.mkdir(exist_ok=True)
        values = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log.dirs": str(home / "data"),
            "zookeeper.connect": f"{self.zookeeper.connect_string}/{cluster}",
            "offsets.topic.replication.factor": "1",
            **settings,
        }
        file = home / "broker.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        process = subprocess.Popen(
            [sys.executable, "-m", "dataplane", "broker", "--config", str(file)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=(home / "broker.log").open("wb"),
            text=True,
        )
        self.brokers[cluster] = process
        self.bootstrap[cluster] = f"127.0.0.1:{port}"
        return process

    def log(self, cluster):
        return (self.directory / cluster / "broker.log").read_text()

    def stop(self):
        for process in self.brokers.values():
            if process.poll() is None:
                process.terminate()
                process.wait(30)
            process.stdout.close()
        self.zookeeper.stop()


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("acl"))
    try:
        for cluster in ("kc_a", "kc_b"):
            made.start(cluster, **login(cluster))
        for cluster, process in made.brokers.items():
            assert process.stdout.readline().startswith("started"), made.log(cluster)
        yield made
    finally:
        made.stop()


async def nodes_under(session, path):
    found = [path]
    for name in await session.children(path):
        found += await nodes_under(session, f"{path.rstrip('/')}/{name}")
    return found


def acls(stage, paths):
    """The ACL of each path, by a client of kazoo. Blocking."""
    logger = logging.getLogger("kazoo.client")
    client = AccessClient(stage.zookeeper.connect_string, SUPER_USER, logger=logger)
    try:
        client.start(START_TIMEOUT_S)
        return {path: client.get_acls(path)[0] for path in paths}
    finally:
        client.stop()
        client.close()


def admin_of(stage, cluster):
    return AdminClient({"bootstrap.servers": stage.bootstrap[cluster]})


async def test_every_node_of_a_cluster_has_its_acl_and_no_other_cluster_gets_in(stage):
    admin = admin_of(stage, "kc_a")
    for future in admin.create_topics([NewTopic("orders", 3, 1)]).values():
        await asyncio.to_thread(future.result, START_TIMEOUT_S)
    everything = await ZooKeeperCoordinator.connect(
        stage.zookeeper.connect_string, access=SUPER_USER
    )
    theirs = await ZooKeeperCoordinator.connect(
        stage.zookeeper.connect_string, access=ZooKeeperAccess.parse(login("kc_b"))
    )
    try:
        paths = await nodes_under(everything, "/kc_a")
        assert len(paths) > 25
        assert "/kc_a/brokers/topics/orders/partitions/2/state" in paths
        assert {"/kc_a/controller", "/kc_a/brokers/ids/0"} <= set(paths)
        owner = ZooKeeperAccess.parse(login("kc_a")).owner()
        wanted = {Id(*owner.split(":", 1)), Id("sasl", "controlplane")}
        for path, acl in (await asyncio.to_thread(acls, stage, paths)).items():
            assert {entry.id for entry in acl} == wanted, path
            for attempt in (theirs.get(path), theirs.children(path), theirs.set(path, b"")):
                with pytest.raises(NotAuthorizedError):
                    await attempt
    finally:
        await theirs.close()
        await everything.close()


async def test_describe_configs_shows_that_there_are_secrets_and_not_which(stage):
    resource = ConfigResource(ConfigResource.Type.BROKER, "0")
    admin = admin_of(stage, "kc_a")
    [future] = admin.describe_configs([resource]).values()
    found = await asyncio.to_thread(future.result, START_TIMEOUT_S)
    for key in keys.ALL:
        assert found[key].is_sensitive == key.endswith("password")
    assert found[keys.ACL_PASSWORD].value is None
    assert found[keys.SASL_PASSWORD].value is None
    assert found[keys.ACL_USERNAME].value == "kc_a"
    assert not [secret for secret in SECRETS if secret in repr(found)]


def test_no_secret_is_in_a_log_or_in_a_processs_arguments_or_environment(stage):
    for cluster, process in stage.brokers.items():
        seen = stage.log(cluster)
        for file in ("cmdline", "environ"):
            seen += pathlib.Path(f"/proc/{process.pid}/{file}").read_text()
        assert not [secret for secret in SECRETS if secret in seen]


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({}, 1, "asks for a login"),
        ({keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: "not-the-password"}, 1, "of member"),
        (login("kc_b"), 1, "no right to /kc_a"),
        ({keys.SET_ACL: "true"}, 2, keys.SET_ACL),
        ({keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: "short"}, 2, "[hidden]"),
    ],
)
def test_a_broker_that_may_not_ends_with_one_line(stage, changed, code, words, request):
    """With another cluster's login the chroot itself is closed to it."""
    cluster = f"kc_bad_{abs(hash(request.node.name))}"
    where = f"{stage.zookeeper.connect_string}/kc_a"
    process = stage.start(cluster, **{**changed, "zookeeper.connect": where, "broker.id": "5"})
    assert process.wait(START_TIMEOUT_S) == code
    log = stage.log(cluster)
    [line] = [line for line in log.splitlines() if line.startswith("penstock broker:")]
    assert words in line
    assert "Traceback" not in log
    assert "not-the-password" not in log
    assert "short" not in log
