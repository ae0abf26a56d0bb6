"""A leader that is cut from the controller, both of which see ZooKeeper, goes on without it.

The controller's broker follows it, so every acknowledgement waits for somebody who is not there, and
who alone could say that it need not be waited for.
"""

from __future__ import annotations

import dataclasses

import pytest

from dataplane.broker.replicas.own_isr_writes import OwnIsrWrites
from dataplane.broker.replicas.past_controller import UNANSWERED_S
from dataplane.cluster.leader_writes import Verdict
from dataplane.replication.leader import LOOKS_PER_LAG_TIME
from tests.simulation.chaos import Chaos
from tests.simulation.oracle import Fate
from tests.simulation.plan import NEVER_S, Plan
from tests.simulation.seeds import run_seed

LAG_S = 2.0
BOUND_S = LAG_S * (1 + 1 / LOOKS_PER_LAG_TIME) + UNANSWERED_S + 0.5
"""The rest is the write itself, and a look at what waits."""
CUT_S = 4 * BOUND_S
SEEDS = range(601, 604)
ROUGH_SEEDS = range(611, 616)


def planned(monkeypatch, **fields):
    make = Plan.of.__func__

    def plan(cls, random):
        made = make(cls, random)
        changed = {key: value(made) if callable(value) else value for key, value in fields.items()}
        return dataclasses.replace(made, **changed)

    monkeypatch.setattr(Plan, "of", classmethod(plan))


@pytest.fixture
def verdicts(monkeypatch):
    """What came of every time that a leader asked ZooKeeper."""
    found: list[Verdict] = []
    settle = OwnIsrWrites.settle

    async def counted(self, wanted):
        settled = await settle(self, wanted)
        found.extend(verdict for verdict, _ in settled.values())
        return settled

    monkeypatch.setattr(OwnIsrWrites, "settle", counted)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_writes_go_on_within_the_bound(monkeypatch, verdicts, seed):
    """Of one long cut in three brokers: each partition that stands still is moved on once."""
    planned(
        monkeypatch,
        brokers=3,
        partitions=3,
        faults=("cut_from_controller",),
        fault_gap_s=0.5,
        chaos_s=1.5 * CUT_S,
        admin_gap_s=NEVER_S,
        fleeting_gap_s=NEVER_S,
        chains=0,
        members=0,
        settings=lambda made: {**made.settings, "replica.lag.time.max.ms": str(int(LAG_S * 1000))},
    )
    cut_at_s: list[float] = []

    async def one_long_cut(self, links):
        if cut_at_s:
            return
        cut_at_s.append(self.sim.now_s)
        for source, target in links:
            self.sim.network.cut(source, target)
        await self._last(CUT_S, CUT_S)
        for source, target in links:
            self.sim.network.mend(source, target)

    monkeypatch.setattr(Chaos, "cut_links", one_long_cut)
    waiting: dict[bytes, float] = {}
    longest = [0.0]

    def look(sim):
        """How long records with acks=all have had no answer, while the cut lasts."""
        now_s = sim.now_s
        for value, sent in sim.oracle.sent.items():
            if sent.acks == -1 and sent.fate is Fate.PENDING:
                began_s = waiting.setdefault(value, now_s)
                if cut_at_s and now_s < cut_at_s[0] + CUT_S:
                    longest[0] = max(longest[0], now_s - max(began_s, cut_at_s[0]))
        sim.wire.call_later(0.05, look, sim)

    assert run_seed(seed, prepare=look).violations == []
    assert cut_at_s
    assert Verdict.WRITE in verdicts
    assert LAG_S < longest[0] < BOUND_S


@pytest.mark.parametrize("seed", ROUGH_SEEDS)
def test_nothing_acknowledged_is_lost_whatever_else_happens(monkeypatch, seed):
    """The controller changes, brokers die and sleep, and ZooKeeper goes away meanwhile."""
    planned(
        monkeypatch,
        faults=(
            *("cut_from_controller",) * 4,
            "controller_change",
            "kill",
            "kill_unfenced",
            "pause",
            "zk_cut",
            "zk_expiry",
        ),
        fault_gap_s=0.6,
        chaos_s=14.0,
        settings=lambda made: {**made.settings, "replica.lag.time.max.ms": "1000"},
    )
    assert run_seed(seed).violations == []
