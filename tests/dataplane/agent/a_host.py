"""A host, its cluster and their logins, for tests of an agent on a real ZooKeeper."""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

from cryptography.fernet import Fernet

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from zookeeper_access import keys
from zookeeper_access.settings import Login, ZooKeeperAccess

KEY = "kc_test-7"
CHROOT = "/penstock/clusters/kc_test"
USERS = {"controlplane": "controlplane-secret-1", "member": "member-secret-1"}
CONTROL_PLANE = ZooKeeperAccess(sasl=Login("controlplane", USERS["controlplane"]), set_acl=True)
CLUSTER = {
    keys.SET_ACL: "true",
    keys.ACL_USERNAME: "kc_test",
    keys.ACL_PASSWORD: "kc_test-secret-1",
    keys.ACL_ADMINISTRATORS: "sasl:controlplane",
}
HOST_PASSWORD = "h1-secret-secret-1"


class Shared(NamedTuple):
    """A ZooKeeper of which we have what is below a chroot, "" for all of it."""

    server: EmbeddedZooKeeper
    chroot: str

    @property
    def connect_string(self):
        return f"{self.server.connect_string}{self.chroot}"


def desired(zookeeper, key, state, generation, port, *, broker_id=7, config=None):
    return json.dumps(
        {
            "v": 1,
            "cluster_id": "kc_test",
            "broker_id": broker_id,
            "generation": generation,
            "state": state,
            "config": {
                "listeners": f"PLAINTEXT://127.0.0.1:{port}",
                "zookeeper.connect": f"{zookeeper.connect_string}{CHROOT}",
                "offsets.topic.replication.factor": "1",
                **(config or {}),
            },
            "secret": Fernet(key).encrypt(json.dumps(CLUSTER).encode()).decode(),
        }
    ).encode()


async def until(condition, log):
    try:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(log()) from None
