"""The supervisor's fencing of a dead child (DESIGN decision 14) is safe, also when it is wrong.

A fenced process that is still alive, a restarted one, a stale fence that comes when the successor is
registered already: seeds of each alone, with every invariant watching.
"""

from __future__ import annotations

import dataclasses
import re
from random import Random

import pytest

from tests.simulation.plan import Plan
from tests.simulation.simulation import Simulation

SEEDS = (501, 502, 503)
CHROOTS = ("", "/shared/cluster")
FENCED = re.compile(r"agent-(\d+) fenced (0x[0-9a-f]+): (\[.*\])")


def run(monkeypatch, seed, *faults, **changed):
    original = Plan.of.__func__

    def plan(cls, random):
        return dataclasses.replace(
            original(cls, random),
            faults=faults,
            fault_gap_s=1.0,
            chaos_s=10.0,
            admin_gap_s=5.0,
            **changed,
        )

    monkeypatch.setattr(Plan, "of", classmethod(plan))
    result = Simulation(seed).run()
    assert result.violations == []
    return result


def test_seeds_have_a_chroot_or_none():
    assert {Plan.of(Random(f"plan {seed}")).chroot for seed in range(20)} == set(CHROOTS)


def fences(result):
    """What each fence removed, in order."""
    return [found[3] for line in result.trace if (found := FENCED.search(line))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fenced_process_that_is_still_alive(monkeypatch, seed):
    """Its registration goes while it serves: its leaderships move, and it may not write on in them."""
    result = run(monkeypatch, seed, "fence_alive")
    assert result.faults["fence_alive"] > 0
    fences = [line for line in result.trace if "while it lives" in line]
    number = re.search(r"fence broker-(\d+)", fences[0])[1]
    at = result.trace.index(fences[0])
    after = next(line for line in result.trace[at:] if f"agent-{number} fenced" in line)
    assert f"/brokers/ids/{number}" in after
    assert result.counts["acknowledged acks=-1"] > 0


@pytest.mark.parametrize("chroot", CHROOTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_restarted_process(monkeypatch, seed, chroot):
    """Its first life is fenced, and its second is registered and takes its replicas up again."""
    result = run(monkeypatch, seed, "kill", chroot=chroot)
    assert result.faults["kill"] > 0
    assert any(f"'{chroot}/brokers/ids/" in removed for removed in fences(result))
    lives = [line for line in result.trace if re.search(r"broker-\d+\.2 serves", line)]
    assert lives


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stale_fence(monkeypatch, seed):
    """It comes when the successor is there: it removes nothing of the successor's."""
    result = run(monkeypatch, seed, "stale_fence")
    assert result.faults["stale_fence"] > 0
    for position, line in enumerate(result.trace):
        found = FENCED.search(line)
        if found is None or "/brokers/ids/" not in found[3]:
            continue
        # What a late fence takes is its own dead session's node: the broker registers after that.
        node = f"zookeeper /brokers/ids/{found[1]} "
        gone = max(n for n in range(position) if f"{node}gone" in result.trace[n])
        assert any(f"{node}{{" in later for later in result.trace[gone:])
    assert any(removed == "[]" for removed in fences(result))
