"""What brokers meet in the normal course is retried without a warning.

Partitions are created many at once, and some brokers hear of it later than others: followers are
refused by leaders that do not know the topic yet, or not that they lead.
"""

from __future__ import annotations

import dataclasses

import pytest

from tests.simulation.plan import NEVER_S, Plan
from tests.simulation.simulation import Simulation

PARTITIONS = 107


def calm_plan(**fields):
    """No misfortunes, no administrator, many partitions from the start."""
    make = Plan.of.__func__

    def plan(cls, random):
        return dataclasses.replace(
            make(cls, random),
            brokers=3,
            partitions=PARTITIONS,
            faults=("reset",),
            fault_gap_s=1e9,
            chaos_s=8.0,
            admin_gap_s=NEVER_S,
            fleeting_gap_s=NEVER_S,
            **fields,
        )

    return classmethod(plan)


def warnings_of(sim: Simulation) -> list[str]:
    return [line for line in sim.lines if " WARNING " in line]


@pytest.mark.parametrize(("late", "seed"), [(1, 303), (2, 202), (3, 305)])
def test_many_partitions_at_once_are_created_without_a_warning(late, seed, monkeypatch):
    monkeypatch.setattr(Plan, "of", calm_plan())
    sim = Simulation(seed, detail=True)
    for other in sim.machines:
        if other != late:
            sim.network.link(f"broker-{other}", f"broker-{late}").extra_s = 2.0
    result = sim.run()
    assert not result.violations
    # Of seeds in which it is, leaders write their ISRs past it: that is worth a warning.
    assert not any(f"broker {late} is the controller" in line for line in sim.lines)
    assert any("steady-106" in line for line in sim.lines)
    assert not warnings_of(sim), warnings_of(sim)[:5]
