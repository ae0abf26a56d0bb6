"""In the end a broker has the replicas that ZooKeeper assigns to it, of those very topics, and no others.

What a deletion or a reassignment has removed does not come back, by whatever late command, repeated
role or restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.invariants.base import Invariant

if TYPE_CHECKING:
    from collections.abc import Iterator


class NoForgottenReplicas(Invariant):
    name = "no replica is forgotten"

    def is_settled(self) -> bool:
        return next(self._forgotten(), None) is None

    def finish(self) -> None:
        for found in self._forgotten():
            self.broken(found)
            return

    def _forgotten(self) -> Iterator[str]:
        states = self.sim.partition_states()
        for machine, process in self.sim.running():
            replica_manager = process.broker.components.replica_manager
            held = {p.topic_partition: p.topic_id for p in replica_manager}
            logs = replica_manager.logs
            held |= {tp: logs.topic_id(tp) for tp in logs.all()}
            for tp, topic_id in sorted(held.items()):
                expected_id, state = states.get(tp, (None, None))
                if state is None or machine.number not in state.replicas:
                    yield f"{machine.name} has a replica of {tp} that is not assigned to it"
                elif topic_id != expected_id:
                    yield f"{machine.name} has {tp} of topic id {topic_id}, not {expected_id}"
