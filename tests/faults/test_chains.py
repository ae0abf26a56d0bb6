"""Consume-transform-produce under faults: coordinators and leaders killed, paused, moved."""

from __future__ import annotations

import time

import pytest

from tests.faults.chains.moves import move_leader
from tests.faults.chains.trial import PLACES, chain_trial
from tests.faults.cluster import SESSION_TIMEOUT_S, FaultCluster
from tests.local_cluster import eventually

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "place",
    ["transactions", pytest.param("offsets", marks=SLOW), pytest.param("output", marks=SLOW)],
)
def test_a_leader_is_killed(cluster: FaultCluster, place: str) -> None:
    with chain_trial(cluster, f"{place}-killed") as run:
        topic, partition = PLACES[place](run)
        victim = cluster.leader_of(topic, partition)
        cluster.kill(victim)
        run.replace_all()
        for _ in eventually(30, "another leader"):
            if cluster.leader_of(topic, partition) not in (victim, -1):
                break
        run.wait_for_commits()
        run.settle()


@SLOW
@pytest.mark.parametrize("place", list(PLACES))
def test_a_leader_sleeps_longer_than_its_session(cluster: FaultCluster, place: str) -> None:
    """It resumes as one that was deposed, with what clients and watchers had asked still unread."""
    with chain_trial(cluster, f"{place}-sleeps") as run:
        topic, partition = PLACES[place](run)
        victim = cluster.leader_of(topic, partition)
        asked = (victim + 1) % 3
        cluster.pause(victim)
        for _ in eventually(SESSION_TIMEOUT_S + 25, "another leader"):
            if cluster.leader_of(topic, partition, asked=asked) not in (victim, -1):
                break
        run.replace_all()
        run.wait_for_commits()
        cluster.resume(victim)
        run.wait_for_commits()
        run.settle()


def test_leadership_is_moved_again_and_again(cluster: FaultCluster) -> None:
    """Of coordinators and data in turn, with nobody dead, and zombies in between."""
    with chain_trial(cluster, "moved") as run:
        for turn in range(2):
            for where in PLACES.values():
                move_leader(cluster, *where(run))
                time.sleep(0.5)  # of transactions that meet the new leader
            if turn == 0:
                run.replace_all()
        run.wait_for_commits()
        run.settle()
