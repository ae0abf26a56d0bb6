"""A real ZooKeeper that asks for logins, the control plane's session there, and agents."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from cryptography.fernet import Fernet

from controlplane.clusters import zookeeper_tree as tree
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.dataplane.agent.a_host import (
    CHROOT,
    CLUSTER,
    CONTROL_PLANE,
    HOST_PASSWORD,
    USERS,
    Shared,
)
from zookeeper_access import files, keys
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess


@pytest.fixture
def zookeeper(tmp_path, request):
    server = EmbeddedZooKeeper(tmp_path / "zk", fsync=False, users=USERS)
    server.start()
    yield Shared(server, getattr(request, "param", ""))
    server.stop()


@pytest.fixture
def admin(zookeeper):
    """The control plane's session, with host h1 and the cluster's chroot made."""
    client = AccessClient(
        zookeeper.connect_string, CONTROL_PLANE, logger=logging.getLogger("kazoo.client")
    )
    client.start(10)
    tree.prepare(client, CONTROL_PLANE, whole_server=True)
    tree.admit_host(client, CONTROL_PLANE, "h1", Login("h1", HOST_PASSWORD).owner())
    owner = ZooKeeperAccess.parse(CLUSTER).owner()
    client.create(CHROOT, acl=tree.chroot_acl(CONTROL_PLANE, owner))
    yield client
    client.stop()
    client.close()


@pytest.fixture
def start_agent(zookeeper, tmp_path):
    key = Fernet.generate_key()
    (tmp_path / "fernet.key").write_bytes(key)
    started = []

    def start(host="h1", **changed):
        file = tmp_path / f"{host}.properties"
        files.write(
            file,
            {
                keys.SASL_USERNAME: "member",
                keys.SASL_PASSWORD: USERS["member"],
                keys.SET_ACL: "true",
                keys.ACL_USERNAME: host,
                keys.ACL_PASSWORD: HOST_PASSWORD,
                keys.ACL_ADMINISTRATORS: "sasl:controlplane",
                **changed,
            },
        )
        with (tmp_path / "agent.log").open("ab") as log:
            started.append(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "dataplane", "agent", "--host-id", host),
                        *("--zookeeper", zookeeper.connect_string),
                        *("--zookeeper-config", str(file)),
                        *("--data-dir", str(tmp_path / f"brokers-{host}")),
                        *("--key-file", str(tmp_path / "fernet.key")),
                        *("--address", "127.0.0.1"),
                    ],
                    stderr=log,
                )
            )
        return started[-1]

    start.key = key
    start.log = (tmp_path / "agent.log").read_text
    yield start
    for agent in started:
        if agent.poll() is None:
            agent.terminate()
            agent.wait(30)
