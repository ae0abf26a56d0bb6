"""ZooKeeper dies and comes back: data flows on without it, decisions wait for it."""

from __future__ import annotations

import time

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import SESSION_TIMEOUT_S, ZOOKEEPER_START_S, FaultCluster
from tests.faults.trial import trial

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
UNDISTURBED_S = 5.0
"""Writers may not notice at all: this is what a busy machine may take from them, and less than
ZooKeeper is away for."""
FAILOVER_MAX_S = 8.0


def test_zookeeper_is_away_for_a_moment(
    cluster: FaultCluster, zookeeper: EmbeddedZooKeeper
) -> None:
    with trial(cluster, "zookeeper-blinks") as run:
        zookeeper.kill()
        run.acks_flow(5)
        zookeeper.start(ZOOKEEPER_START_S)
        run.acks_flow(1)
        run.settle()
        assert run.gap_s() < UNDISTURBED_S


@pytest.mark.slow
def test_zookeeper_is_away_for_longer_than_a_session(
    cluster: FaultCluster, zookeeper: EmbeddedZooKeeper
) -> None:
    with trial(cluster, "zookeeper-away") as run:
        zookeeper.kill()
        run.acks_flow(SESSION_TIMEOUT_S + 2)
        zookeeper.start(ZOOKEEPER_START_S)
        run.acks_flow(1)
        run.settle()
        assert run.gap_s() < UNDISTURBED_S
        _can_fail_over(cluster)


@pytest.mark.slow
def test_a_leader_dies_while_zookeeper_is_away(
    cluster: FaultCluster, zookeeper: EmbeddedZooKeeper
) -> None:
    """Nobody can lead in its place until ZooKeeper is back, and nothing is lost."""
    with trial(cluster, "both-gone") as run:
        zookeeper.kill()
        cluster.kill(1)
        time.sleep(5)  # long enough that fencing fails and the broker starts without ZooKeeper
        zookeeper.start(ZOOKEEPER_START_S)
        run.wait_for_acks(SESSION_TIMEOUT_S + 40)
        run.settle()


def _can_fail_over(cluster: FaultCluster) -> None:
    """A cluster that came through it can still do what it needs ZooKeeper for."""
    with trial(cluster, "fails-over-after") as run:
        cluster.kill(cluster.controller())
        run.wait_for_acks()
        run.settle()
        assert run.gap_s() < FAILOVER_MAX_S
