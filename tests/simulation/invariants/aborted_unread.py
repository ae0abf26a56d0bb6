"""read_committed shows no record of a transaction that was aborted, or is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.invariants.base import Invariant

if TYPE_CHECKING:
    from tests.simulation.chains.ledger import Output


class AbortedUnread(Invariant):
    name = "no aborted record is read"

    def __init__(self, sim) -> None:
        super().__init__(sim)
        self._read: dict[tuple[int, int], int] = {}

    def output_read(self, partition: int, offset: int, output: Output) -> None:
        attempt = self.sim.chains.ledger.attempts[output.attempt]
        if not attempt.commit_sent:
            self.broken(f"result-{partition} offset {offset} is read; nobody committed {attempt}")
        known = self._read.setdefault((partition, offset), output.attempt)
        if known != output.attempt:
            self.broken(f"result-{partition} offset {offset} was of {known}, is of {attempt}")
        self.sim.oracle.count("committed outputs read")

    def finish(self) -> None:
        """A commit that was refused at its first try has not happened; what was read stays."""
        attempts = self.sim.chains.ledger.attempts
        outputs = self.sim.chains.outputs
        for place, number in self._read.items():
            if attempts[number].commit_refused:
                self.broken(f"{place} was read; the commit of {attempts[number]} was refused")
                return
            if place not in outputs:
                self.broken(f"{place} of {attempts[number]} was read as committed, and is gone")
                return
