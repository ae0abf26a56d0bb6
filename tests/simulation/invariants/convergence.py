"""After the faults stop, everything becomes whole again, and stays so.

Whole: all brokers registered, one active controller, every partition led by the broker that
ZooKeeper names, every replica in sync and at the leader's end, every broker knowing all that, every
producer with its answer. The simulation waits for it for QUIET_MAX_S of virtual time and breaks this
invariant itself; here it is only looked at once more at the very end.
"""

from __future__ import annotations

from tests.simulation.invariants.base import Invariant


class Convergence(Invariant):
    name = "convergence"

    def finish(self) -> None:
        found = self.sim.unsettled()
        if found:
            self.broken(f"no longer settled: {found[:4]}")
