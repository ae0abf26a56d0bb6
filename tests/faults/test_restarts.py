"""Restarts in good order, under load: nobody notices more than a pause."""

from __future__ import annotations

import pytest

from tests.faults.cluster import FaultCluster
from tests.faults.trial import trial

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
GAP_MAX_S = 6.0


def test_a_rolling_restart(cluster: FaultCluster) -> None:
    """SIGTERM hands leaderships over first: every request succeeds, if need be tried again."""
    with trial(cluster, "rolling-restart") as run:
        for broker in cluster.ids:
            cluster.stop_broker(broker)
            run.wait_for_acks()
            cluster.start_broker(broker)
            cluster.wait_until_whole()
        done = run.settle()
        assert [(each.failed, each.unknown) for each in done.tallies] == [(0, 0), (0, 0)]
        assert run.gap_s() < GAP_MAX_S


@pytest.mark.slow
def test_the_whole_cluster_restarts(cluster: FaultCluster) -> None:
    with trial(cluster, "whole-restart") as run:
        for broker in cluster.ids:
            cluster.stop_broker(broker)
        for broker in cluster.ids:
            cluster.start_broker(broker)
        run.wait_for_acks()
        run.settle()
