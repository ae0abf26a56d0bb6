"""A running cluster gets another login to ZooKeeper, although what gives it that is killed."""

import json
import logging
import os
import signal
import subprocess
import sys
import time

import pytest
from kazoo.exceptions import NoAuthError
from kazoo.security import OPEN_ACL_UNSAFE

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.service import REPOSITORY, LiveService
from tests.controlplane.live.writer import Writer, all_below
from zookeeper_access import files
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(400)]

KILLS = ("gives what it makes to both", "has its new login", "to the new login alone")
SECRETS = """
from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
print("is", unseal(Cluster.objects.get().secrets_token)["zookeeper"])
"""


@pytest.fixture
def service(tmp_path):
    made = LiveService(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture
def connect(service):
    opened = []

    def open_session(name, identity=None):
        access = ZooKeeperAccess.parse(files.read(service.logins / f"{name}.properties"))
        if identity is not None:
            access = ZooKeeperAccess(sasl=access.sasl, identity=identity)
        address = f"127.0.0.1:{service.zookeeper_port}"
        opened.append(AccessClient(address, access, logger=logging.getLogger("kazoo.client")))
        opened[-1].start(10)
        return opened[-1]

    yield open_session
    for client in opened:
        client.stop()
        client.close()


def provision(service):
    body = {**OPEN, "name": "rotated", "broker_count": 3, "config": QUICK, "confirm": True}
    ended = service.finish(service.post("/clusters", body)["operation"])
    assert ended["state"] == "succeeded", ended
    service.cluster_id = ended["cluster_id"]
    topic = {
        "principal": "User:everything",
        "operation": "ALL",
        "resource_type": "TOPIC",
        "resource_name": "*",
    }
    group = {**topic, "resource_type": "GROUP"}
    operation = service.run("user.create", username="everything", acls=[topic, group])
    secret = service.post(f"/operations/{operation['id']}/secret")
    cluster = service.get(f"/clusters/{service.cluster_id}")
    return Clients(cluster["bootstrap_servers"], secret)


def password_of(service):
    return service.manage("shell", "--verbosity", "0", "--command", SECRETS).split()[-1]


def run_and_kill(service, after):
    """The command, ended by SIGKILL as soon as it has said `after` once."""
    command = subprocess.Popen(
        [sys.executable, "-u", "manage.py", "zookeeper", "rotate-cluster", service.cluster_id],
        env=service.environment,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = []
        for line in command.stdout:
            said.append(line)
            if after in line:
                return
        raise AssertionError("".join(said))
    finally:
        command.kill()
        command.wait()
        command.stdout.close()


def test_a_cluster_gets_another_login_while_it_serves(service, connect):
    clients = provision(service)
    created = service.run("topic.create", name="t.before", partitions=3, replication_factor=3)
    assert created["state"] == "succeeded"
    chroot = f"/penstock/clusters/{service.cluster_id}"
    old = Login(service.cluster_id, password_of(service))
    with_old = connect("member", old)
    assert "t.before" in with_old.get_children(f"{chroot}/brokers/topics")

    writer = Writer(clients, "t.before")
    try:
        for after in KILLS:
            run_and_kill(service, after)
        said = service.manage("zookeeper", "rotate-cluster", service.cluster_id)
    finally:
        writer.stop()
    assert not writer.failures
    assert "nodes are the new login's alone" in said
    # What was done before the kills is not done again.
    assert "has its new login" not in said

    everything = connect("super")
    new = Login(service.cluster_id, password_of(service))
    assert new.password != old.password
    paths = all_below(everything, chroot)
    assert f"{chroot}/brokers/ids/3" in paths
    again = connect("member", old)
    with_new = connect("member", new)
    for path in paths:
        owners = {f"{entry.id.scheme}:{entry.id.id}" for entry in everything.get_acls(path)[0]}
        assert owners == {new.owner(), "sasl:controlplane"}, path
        with_new.get(path)
        for client in (with_old, again):
            for attempt in (
                lambda: client.get(path),  # noqa: B023 - called at once
                lambda: client.set(path, b""),  # noqa: B023 - as above
                lambda: client.create(f"{path}/intruder"),  # noqa: B023 - as above
                lambda: client.set_acls(path, OPEN_ACL_UNSAFE),  # noqa: B023 - as above
            ):
                with pytest.raises(NoAuthError):
                    attempt()
    brokers = service.directory / "brokers"
    assert new.password in next(brokers.glob("*-1/broker.properties")).read_text()
    for file in brokers.glob("*/broker.properties"):
        assert old.password not in file.read_text()

    # It serves as before: what was written is there, and the controller makes topics.
    assert writer.written > 0
    assert len(clients.read("t.before", "g", writer.written)) >= writer.written
    created = service.run("topic.create", name="t.after", partitions=3, replication_factor=3)
    assert created["state"] == "succeeded"
    clients.produce("t.after", 10)
    # The agent fences by the new login: a killed broker is registered again before its session of
    # 18 s would have ended.
    before = everything.exists(f"{chroot}/brokers/ids/1").czxid
    killed_s = time.monotonic()
    (pid_file,) = brokers.glob("*-1/broker.pid")
    os.kill(json.loads(pid_file.read_text())["pid"], signal.SIGKILL)
    while (stat := everything.exists(f"{chroot}/brokers/ids/1")) is None or stat.czxid == before:
        assert time.monotonic() - killed_s < 15
        time.sleep(0.05)
