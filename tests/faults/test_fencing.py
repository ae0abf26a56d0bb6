"""A dead broker is fenced by its supervisor at once, wherever in ZooKeeper its cluster is."""

from __future__ import annotations

import time

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import CHROOT, ZOOKEEPER_START_S, FaultCluster, running
from tests.local_cluster import eventually

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
SESSION_TIMEOUT_S = 60
"""As long as ZooKeeper allows, so that a busy machine is not taken for a missing fence."""


@pytest.mark.parametrize("chroot", ["", CHROOT], ids=["no-chroot", "chroot"])
def test_another_controller_long_before_the_session_ends(
    alone: None, tmp_path_factory: pytest.TempPathFactory, chroot: str
) -> None:
    zookeeper = EmbeddedZooKeeper(tmp_path_factory.mktemp("zookeeper"))
    zookeeper.start(ZOOKEEPER_START_S)
    try:
        address = zookeeper.connect_string
        made = FaultCluster(
            tmp_path_factory.mktemp("faults"),
            address,
            chroot=chroot,
            settings={"zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_S * 1_000)},
        )
        with running(made) as cluster:
            victim = cluster.controller()
            asked = (victim + 1) % 3
            killed_at_s = time.monotonic()
            cluster.kill_and_hold(victim)
            for _ in eventually(SESSION_TIMEOUT_S, "another controller"):
                if cluster.controller(asked=asked) != victim:
                    break
            # Without the fence nobody is the controller before the session has ended: at least two
            # thirds of it after the kill, as a client is heard once in a third.
            assert time.monotonic() - killed_at_s < SESSION_TIMEOUT_S / 2
    finally:
        zookeeper.stop()
