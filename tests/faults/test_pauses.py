"""SIGSTOP and SIGCONT: a process that thinks that no time has passed."""

from __future__ import annotations

import time

import pytest

from tests.faults.cluster import SESSION_TIMEOUT_S, FaultCluster
from tests.faults.trial import trial
from tests.local_cluster import eventually

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
NOTICED_MAX_S = 8.0
"""From the end of a session to acknowledgements by the new leader, on a busy machine."""


@pytest.mark.slow
def test_a_leader_and_controller_sleeps_longer_than_its_session(cluster: FaultCluster) -> None:
    """It resumes as a deposed leader and controller, with clients' requests still unread: no broker
    may apply its requests, and nothing that it acknowledges may be lost.
    """
    victim = cluster.controller()
    others = [broker for broker in cluster.ids if broker != victim]
    assignment = [[victim, *others], [others[0], victim, others[1]]]
    with trial(cluster, "leader-sleeps", assignment=assignment) as run:
        cluster.pause(victim)
        for _ in eventually(SESSION_TIMEOUT_S + 20, "another leader, another controller"):
            has_new_leader = cluster.leader_of(run.topic, asked=others[0]) not in (victim, -1)
            if has_new_leader and cluster.controller(asked=others[0]) != victim:
                break
        run.wait_for_acks()
        time.sleep(2)  # the new leader's log grows: what the zombie has is history
        cluster.resume(victim)
        run.wait_for_acks()
        run.settle()
        assert run.gap_s() < SESSION_TIMEOUT_S + NOTICED_MAX_S


@pytest.mark.slow
def test_a_leader_naps(cluster: FaultCluster) -> None:
    """Shorter than the session: it stays the leader, and nothing is lost."""
    with trial(cluster, "leader-naps", assignment=[[0, 1, 2]]) as run:
        cluster.pause(0)
        time.sleep(3)  # the length of the nap
        cluster.resume(0)
        run.wait_for_acks()
        assert cluster.leader_of(run.topic) == 0
        run.settle()
