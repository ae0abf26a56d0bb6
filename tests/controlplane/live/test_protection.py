"""A cluster of before there were ZooKeeper logins gets its own while it serves."""

import logging

import pytest
from kazoo.exceptions import NoAuthError

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.service import LiveService
from tests.controlplane.live.writer import Writer, all_below
from zookeeper_access import files, keys
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import ZooKeeperAccess

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(400)]

FORGET_LOGIN = """
from controlplane.clusters.models import Cluster
from controlplane.common.crypto import seal, unseal
cluster = Cluster.objects.get()
secrets = unseal(cluster.secrets_token)
del secrets["zookeeper"]
cluster.secrets_token = seal(secrets)
cluster.save()
"""


@pytest.fixture
def service(tmp_path):
    made = LiveService(tmp_path, is_protected=False)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def session(service, name):
    access = ZooKeeperAccess.parse(files.read(service.logins / f"{name}.properties"))
    client = AccessClient(
        f"127.0.0.1:{service.zookeeper_port}", access, logger=logging.getLogger("kazoo.client")
    )
    client.start(10)
    return client


def provision(service):
    body = {**OPEN, "name": "old", "broker_count": 3, "config": QUICK, "confirm": True}
    ended = service.finish(service.post("/clusters", body)["operation"])
    assert ended["state"] == "succeeded", ended
    service.cluster_id = ended["cluster_id"]
    service.manage("shell", "--command", FORGET_LOGIN)
    acl = {
        "principal": "User:everything",
        "operation": "ALL",
        "resource_type": "TOPIC",
        "resource_name": "*",
    }
    group = {**acl, "resource_type": "GROUP"}
    operation = service.run("user.create", username="everything", acls=[acl, group])
    secret = service.post(f"/operations/{operation['id']}/secret")
    cluster = service.get(f"/clusters/{service.cluster_id}")
    return Clients(cluster["bootstrap_servers"], secret)


def test_a_cluster_gets_its_login_and_closed_nodes_while_it_serves(service):
    clients = provision(service)
    created = service.run("topic.create", name="t.old", partitions=3, replication_factor=3)
    assert created["state"] == "succeeded"
    chroot = f"/penstock/clusters/{service.cluster_id}"
    anybody = session(service, "member")
    assert "t.old" in anybody.get_children(f"{chroot}/brokers/topics")

    # The way of deploy/zookeeper.md.
    login = files.read(service.logins / "controlplane.properties")
    files.write(service.logins / "controlplane.properties", {**login, keys.SET_ACL: "true"})
    service.admit_host()
    service.processes["agent"].kill()
    service.processes["agent"].wait()
    service.start_agent("host-1")
    writer = Writer(clients, "t.old")
    try:
        said = service.manage("zookeeper", "protect", "--timeout-s", "90")
    finally:
        writer.stop()
    assert not writer.failures
    assert said.count("has its login") == said.count("closes what it makes") == 3

    everything = session(service, "super")
    paths = all_below(everything, chroot)
    assert f"{chroot}/brokers/ids/3" in paths
    for path in paths:
        acl, _ = everything.get_acls(path)
        assert {entry.id.scheme for entry in acl} == {"digest", "sasl"}, path
        with pytest.raises(NoAuthError):
            anybody.get(path)
    for client in (anybody, everything):
        client.stop()
        client.close()

    assert writer.written > 0
    assert len(clients.read("t.old", "g", writer.written)) >= writer.written
    created = service.run("topic.create", name="t.new", partitions=3, replication_factor=3)
    assert created["state"] == "succeeded"
    clients.produce("t.new", 10)
    # Once more: nothing is restarted, nothing has to be.
    pids = [row["pid"] for row in service.get(f"/clusters/{service.cluster_id}")["brokers"]]
    assert "has its login" not in service.manage("zookeeper", "protect")
    rows = service.get(f"/clusters/{service.cluster_id}")["brokers"]
    assert [row["pid"] for row in rows] == pids
    assert [row["alive"] for row in rows] == [True] * 3
