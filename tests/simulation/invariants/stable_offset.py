"""The last stable offset never lies beyond an open transaction, and no transaction stays open.

A transaction is open for sure from its first acknowledged batch until its producer ends it, a
successor may have fenced it, or its time is up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.model.ids import TopicPartition
from tests.simulation.chains.instance import FEED, RESULT
from tests.simulation.invariants.base import Invariant
from tests.simulation.plan import LONG_TRANSACTION_MS

if TYPE_CHECKING:
    from tests.simulation.chains.fetching import Read


class StableOffset(Invariant):
    name = "the last stable offset is before open transactions"

    def observe(self) -> None:
        for partition, first, number in self._open():
            for replica in self.sim.replicas().get(TopicPartition(RESULT, partition), ()):
                stable = replica.partition.log.last_stable_offset
                if stable > first:
                    self._is_beyond(replica.machine.name, partition, stable, first, number)

    def committed_read(self, topic: str, partition: int, read: Read) -> None:
        if topic != RESULT:
            return
        for index, first, number in self._open():
            if index == partition and read.last_stable_offset > first:
                self._is_beyond("an answer", partition, read.last_stable_offset, first, number)

    def _open(self) -> list[tuple[int, int, int]]:
        """Partition of `result`, first offset, number of what is open for sure."""
        plan = self.sim.plan
        if plan.transaction_timeout_ms < LONG_TRANSACTION_MS or "clock_step" in plan.faults:
            return []
        return [
            (partition, first, attempt.number)
            for attempt in self.sim.chains.ledger.open.values()
            for partition, first in attempt.placed.items()
            if first >= 0
        ]

    def _is_beyond(self, who: str, partition: int, stable: int, first: int, number: int) -> None:
        self.broken(
            f"{who}: result-{partition} is stable up to {stable}; attempt {number} is open at {first}"
        )

    def is_settled(self) -> bool:
        return not self._hanging()

    def finish(self) -> None:
        hanging = self._hanging()
        if hanging:
            self.broken(f"transactions hang in {hanging}")

    def _hanging(self) -> list[str]:
        return [
            f"{tp} at {replica.machine.name}"
            for tp, replicas in self.sim.replicas().items()
            if tp.topic in (FEED, RESULT, OFFSETS_TOPIC)
            for replica in replicas
            if replica.partition.log.producers.has_transactions
        ]
