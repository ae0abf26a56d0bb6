"""Transactions and groups at work: what the invariants watch does happen, and often."""

from __future__ import annotations

import dataclasses

from tests.simulation.plan import Plan
from tests.simulation.seeds import run_seed

SEEDS = (3, 17, 12)
HAPPENS = (
    "transactions committed",
    "transactions aborted",
    "producers fenced while they write",
    "committed outputs read",
    "records transformed exactly once",
    "partitions of chains and coordinators moved",
    "requests with markers lost",
    "requests with markers unanswered",
    "requests with markers repeated",
    "committed offsets read",
    "offsets committed by members",
    "members that leave",
    "members that crash",
)


def test_coordinators_are_moved_and_markers_lost_and_everything_comes_once(monkeypatch):
    make = Plan.of.__func__

    def plan(cls, random):
        made = make(cls, random)
        return dataclasses.replace(
            made, chains=2, members=3, marker_fault_gap_s=0.5, chain_move_gap_s=0.8, chaos_s=12.0
        )

    monkeypatch.setattr(Plan, "of", classmethod(plan))
    counts: dict[str, int] = {}
    for seed in SEEDS:
        result = run_seed(seed)
        assert not result.violations
        for what, times in result.counts.items():
            counts[what] = counts.get(what, 0) + times
    assert [what for what in HAPPENS if not counts.get(what)] == []
