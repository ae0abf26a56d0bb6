"""A broker's files are damaged while it is down: it comes back and catches up from the others.

`PENSTOCK_FAULTS_SEED=n` repeats a run; the seed is printed with what was done to which file.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.faults import damage
from tests.faults.cluster import FaultCluster
from tests.faults.trial import trial

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
ROUNDS = 3
SMALL_SEGMENTS = {"segment.bytes": "100000", "index.interval.bytes": "1000"}
"""So that a few seconds of traffic fill several segments, with many index entries."""


def test_files_are_flipped_and_truncated(cluster: FaultCluster) -> None:
    seed = int(os.environ.get("PENSTOCK_FAULTS_SEED") or random.randrange(1_000_000))
    print(f"\nPENSTOCK_FAULTS_SEED={seed}")
    rng = random.Random(seed)
    with trial(cluster, "damaged-files", config=SMALL_SEGMENTS) as run:
        for turn in range(ROUNDS):
            victim = turn % 3
            is_clean = turn % 2 == 1
            (cluster.stop_broker if is_clean else cluster.kill_and_hold)(victim)
            run.wait_for_acks()  # the others go on: they have what is damaged now
            for partition in run.partitions:
                directory = cluster.partition_dir(victim, run.topic, partition)
                for done in damage.damage_partition(rng, directory, with_log=not is_clean):
                    print(f"broker {victim}: {done}")
            for done in damage.damage_checkpoints(rng, cluster.log_dir(victim)):
                print(f"broker {victim}: {done}")
            cluster.start_broker(victim)
            cluster.wait_until_whole()
            run.wait_for_acks()
        run.settle()
