"""Brokers that speak different inter-broker protocols to each other, as in a software change."""

from __future__ import annotations

import pytest

from dataplane.config.inter_broker import PROTOCOL_KEY
from dataplane.config.release import NEWEST_PROTOCOL, OLDEST_PROTOCOL
from tests.simulation.seeds import run_seed
from tests.simulation.simulation import Simulation

SEED = 2


@pytest.mark.parametrize("newer", [(), (1,)], ids=["the oldest", "mixed"])
def test_no_violation(newer, monkeypatch):
    """With faults, elections and moves: nothing acknowledged is lost by what an older one sends."""
    settings = Simulation.settings

    def chosen(self, number):
        protocol = NEWEST_PROTOCOL if number in newer else OLDEST_PROTOCOL
        return {**settings(self, number), PROTOCOL_KEY: protocol}

    monkeypatch.setattr(Simulation, "settings", chosen)
    result = run_seed(SEED)
    assert not result.violations
    assert result.counts.get("records read", 0) > 0
