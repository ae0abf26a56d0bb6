"""A few seeds in every test run, and every seed that has found a bug."""

from __future__ import annotations

import dataclasses

import pytest

from dataplane.log.segment.log_segment import LogSegment
from tests.simulation.plan import Plan
from tests.simulation.seeds import run_seed

SEEDS = (2, 4)

# Seeds that broke something once; README.md says what. Plans may have changed since: the unit test
# of each bug's class is what holds it.
REGRESSIONS = (3, 14, 17, 43, 46, 55, 62, 63, 112, 114, 266, 4_000_392, 5_000_664, 5_001_754)


@pytest.mark.parametrize("seed", sorted({*SEEDS, *REGRESSIONS}))
def test_no_violation(seed):
    result = run_seed(seed)
    assert not result.violations, f"again: make simulate SEEDS=1 SEED={seed}"
    assert result.counts.get("records read", 0) > 0


def test_batches_are_staged_in_groups_and_their_writes_fail(monkeypatch):
    """Bursts reach the brokers in one piece: else staging would hardly be simulated at all."""
    make, write = Plan.of.__func__, LogSegment.append
    groups = {True: 0, False: 0}  # of several batches: whether they were written

    def plan(cls, random):
        made = make(cls, random)
        return dataclasses.replace(
            made, burst_batches_max=5, faults=("disk_full", "failed_write"), fault_gap_s=0.3
        )

    def counted(self, parts, batches):
        is_group = len(batches) > 1
        try:
            write(self, parts, batches)
        except OSError:
            groups[False] += is_group
            raise
        groups[True] += is_group

    monkeypatch.setattr(Plan, "of", classmethod(plan))
    monkeypatch.setattr(LogSegment, "append", counted)
    for seed in (3, 5, 6, 7, 8):
        assert not run_seed(seed).violations
    assert groups[True] > 50
    assert groups[False] > 0
