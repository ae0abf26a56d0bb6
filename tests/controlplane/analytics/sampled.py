"""Samples of a faked cluster, by a clock that the test moves."""

from __future__ import annotations

import dataclasses

from controlplane.analytics.sampler import Sampler
from controlplane.analytics.throughput import store
from controlplane.gateway.types import TP

STEP_MS = store.STEP_MS
T0_MS = 1_760_000_000_000 // STEP_MS * STEP_MS


class Line:
    """A cluster that is sampled every ten seconds of a clock that the test moves."""

    def __init__(self, world):
        self.world = world
        self.now_ms = T0_MS
        self.sampler = Sampler(now_ms=lambda: self.now_ms)

    def sample(self):
        sample = self.sampler.sample(self.world.gateway, budget_s=60)
        return store.note(self.world.cluster.id, sample)

    def go(self, steps=1, *, write=0, read=0):
        """So many steps; in each so many records are written to each partition of orders."""
        for _ in range(steps):
            for at, part in enumerate(self.world.gateway.topics["orders"].partitions):
                part.log_end += write
                tp = TP("orders", at)
                was = self.world.gateway.committed["readers"][tp]
                moved = dataclasses.replace(was, offset=was.offset + read)
                self.world.gateway.committed["readers"][tp] = moved
            self.now_ms += STEP_MS
            self.sample()
