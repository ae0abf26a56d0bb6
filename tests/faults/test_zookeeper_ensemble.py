"""An ensemble of three loses one server, the leading one: a majority goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.faults.cluster import FaultCluster, running
from tests.faults.trial import trial
from tests.zookeeper_ensemble import ZooKeeperEnsemble, ensemble

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
UNDISTURBED_S = 5.0
FAILOVER_MAX_S = 8.0
"""An election among ZooKeeper servers comes before the one among brokers."""


@pytest.fixture(scope="module")
def servers(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperEnsemble]:
    with ensemble(tmp_path_factory.mktemp("ensemble")) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, servers: ZooKeeperEnsemble
) -> Iterator[FaultCluster]:
    made = FaultCluster(tmp_path_factory.mktemp("faults"), servers.connect_string)
    with running(made) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize("role", ["leader", "follower"])
def test_one_server_is_killed(cluster: FaultCluster, servers: ZooKeeperEnsemble, role: str) -> None:
    cluster.wait_until_whole()
    servers.wait_until_serving()
    victim = servers.leader() if role == "leader" else servers.follower()
    with trial(cluster, f"zookeeper-{role}-killed") as run:
        servers.kill(victim)
        run.acks_flow(3)
        assert run.gap_s() < UNDISTURBED_S
        killed_at_s = time.monotonic()
        cluster.kill(cluster.controller())  # and decisions are still made
        run.wait_for_acks()
        servers.start(victim)
        run.settle()
        gaps = [writer.ledger.longest_gap_s(killed_at_s) for writer in run.writers]
        assert max(gaps) < FAILOVER_MAX_S


@pytest.mark.slow
def test_the_majority_is_gone_for_a_while(
    cluster: FaultCluster, servers: ZooKeeperEnsemble
) -> None:
    cluster.wait_until_whole()
    servers.wait_until_serving()
    with trial(cluster, "zookeeper-majority-gone") as run:
        servers.kill(1)
        servers.kill(2)
        run.acks_flow(6)
        servers.start(1)
        servers.start(2)
        run.acks_flow(1)
        run.settle()
        assert run.gap_s() < UNDISTURBED_S
