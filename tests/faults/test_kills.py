"""Brokers die by SIGKILL under load, one, two, or all of them; supervisors bring them back."""

from __future__ import annotations

import time

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.cluster import ZOOKEEPER_START_S, FaultCluster
from tests.faults.trial import trial
from tests.local_cluster import eventually

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
UNWRITABLE_MAX_S = 8.0
"""A supervisor fences at once; the rest is election, and clients that look for the new leader:
half a second where nothing else runs. Without the fence it would be 18 s and more."""


def orders(leader: int) -> list[list[int]]:
    """One partition, led by `leader`."""
    return [[leader, (leader + 1) % 3, (leader + 2) % 3]]


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "role",
    ["leader", pytest.param("follower", marks=SLOW), pytest.param("controller", marks=SLOW)],
)
def test_one_is_killed(cluster: FaultCluster, role: str) -> None:
    controller = cluster.controller()
    leader = controller if role == "controller" else (controller + 1) % 3
    victim = (controller + 2) % 3 if role == "follower" else leader
    with trial(cluster, f"{role}-killed", assignment=orders(leader)) as run:
        cluster.kill(victim)
        if role != "follower":
            run.wait_for_another_leader(victim, within_s=40)
        if role == "controller":
            for _ in eventually(40, "another controller"):
                if cluster.controller() != victim:
                    break
        run.wait_for_acks()
        run.settle()
        assert run.gap_s() < UNWRITABLE_MAX_S


@SLOW
def test_the_coordinator_of_a_group_is_killed(cluster: FaultCluster) -> None:
    """The group goes on with another one, which knows every confirmed commit."""
    with trial(cluster, "coordinator-killed") as run:
        victim = cluster.coordinator_of(f"group-{run.topic}")
        for _ in eventually(20, "a commit before"):
            if run.group.committed:
                break
        before = dict(run.group.committed)
        cluster.kill(victim)
        for _ in eventually(40, "a commit to the new coordinator"):
            now = dict(run.group.committed)
            if any(now[partition] > offset for partition, offset in before.items()):
                break
        assert cluster.coordinator_of(f"group-{run.topic}") != victim
        run.settle()


@SLOW
def test_two_of_three_are_killed_one_after_the_other(cluster: FaultCluster) -> None:
    with trial(cluster, "two-killed") as run:
        cluster.kill_and_hold(0)
        run.wait_for_acks()
        cluster.kill_and_hold(1)
        # One replica is left: below min.insync.replicas nothing may be acknowledged.
        for _ in eventually(20, "a lone in-sync replica"):
            if all(cluster.isr_of(run.topic, p, asked=2) == {2} for p in run.partitions):
                break
        acked = [len(writer.ledger.acked_at_s) for writer in run.writers]
        time.sleep(1)
        assert [len(writer.ledger.acked_at_s) for writer in run.writers] == acked
        cluster.start_broker(0)
        run.wait_for_acks()
        cluster.start_broker(1)
        run.settle()


def test_all_are_killed_at_once(cluster: FaultCluster) -> None:
    with trial(cluster, "all-killed") as run:
        cluster.kill(*cluster.ids)
        run.wait_for_acks()
        run.settle()


@SLOW
def test_the_power_goes(cluster: FaultCluster, zookeeper: EmbeddedZooKeeper) -> None:
    """ZooKeeper and all brokers, and nobody is left to fence them."""
    with trial(cluster, "power-lost") as run:
        cluster.lose_power(zookeeper)
        zookeeper.start(ZOOKEEPER_START_S)
        for broker in cluster.ids:
            cluster.start_broker(broker)
        run.wait_for_acks()
        run.settle()


@SLOW
def test_one_is_killed_again_and_again(cluster: FaultCluster) -> None:
    """A broker that dies while it still recovers from the last time."""
    with trial(cluster, "killed-thrice") as run:
        for _ in range(3):
            before = cluster.pid(1)
            cluster.kill(1)
            for _ in eventually(30, "a new process"):
                if cluster.pid(1) != before:
                    break
        run.wait_for_acks()
        run.settle()
