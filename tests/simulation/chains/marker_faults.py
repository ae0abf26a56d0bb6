"""Markers that are lost on their way, whose answers are lost, or that arrive twice.

The network loses connections, not messages: here a coordinator's request alone goes wrong, while
everything else between the two brokers goes on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from dataplane.broker.transactions.marker_sender import CHANNEL

if TYPE_CHECKING:
    from random import Random

    from tests.simulation.simulation import Simulation

KINDS = ("lost", "unanswered", "repeated")
LAST_MAX_S = 3.0
SILENCE_MAX_S = 1.0
"""Until the coordinator takes a request for lost. Its own patience is longer than most seeds."""


class MarkerFaults:
    """`kind` is what befalls every request with markers at this time; empty: nothing."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.kind = ""
        self.is_over = False

    async def run(self, random: Random, gap_s: float) -> None:
        while not self.is_over:
            await asyncio.sleep(random.expovariate(1 / gap_s))
            self.kind = "" if self.is_over else random.choice(KINDS)
            self.sim.trace(f"fault: markers are {self.kind or 'safe'}")
            await asyncio.sleep(random.uniform(0, LAST_MAX_S))
            self.kind = ""

    def stop(self) -> None:
        self.is_over = True
        self.kind = ""


class UnreliablePeers:
    """Stands between a broker's marker sender and its connections to other brokers."""

    def __init__(self, peers: Any, faults: MarkerFaults) -> None:
        self._peers = peers
        self._faults = faults
        self._random = faults.sim.fork_random()

    async def request(self, broker_id: int, message: Any, version: int, **options: Any) -> Any:
        kind = self._faults.kind
        if options.get("channel") != CHANNEL or not kind:
            return await self._peers.request(broker_id, message, version, **options)
        self._faults.sim.oracle.count(f"requests with markers {kind}")
        if kind == "lost":
            await asyncio.sleep(self._random.uniform(0, SILENCE_MAX_S))
            raise TimeoutError("the markers are lost")
        await self._peers.request(broker_id, message, version, **options)
        if kind == "unanswered":
            await asyncio.sleep(self._random.uniform(0, SILENCE_MAX_S))
            raise TimeoutError("the answer about markers is lost")
        return await self._peers.request(broker_id, message, version, **options)
