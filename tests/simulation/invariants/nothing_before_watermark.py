"""No record is readable before its high watermark.

Seen by the consumer: no answer holds a record at or above the high watermark that it names. Seen
from above: with min.insync.replicas=2 whatever a consumer gets has been in two logs at least, since
the watermark stands still while the ISR is smaller.
"""

from __future__ import annotations

import uuid

from tests.simulation.clients.consumer import Answer
from tests.simulation.invariants.base import Invariant


class NothingBeforeWatermark(Invariant):
    name = "nothing is read before the watermark"

    def __init__(self, sim) -> None:
        super().__init__(sim)
        self._replicated: dict[tuple[uuid.UUID, int], int] = {}

    def observe(self) -> None:
        """Note the second highest log end of each partition: up to there two logs reached."""
        for tp, replicas in self.sim.replicas().items():
            ends: dict[uuid.UUID, list[int]] = {}
            for replica in replicas:
                partition = replica.partition
                ends.setdefault(partition.topic_id, []).append(partition.log.log_end_offset)
            for topic_id, found in ends.items():
                if len(found) > 1:
                    key = (topic_id, tp.partition)
                    second = sorted(found)[-2]
                    if second > self._replicated.get(key, 0):
                        self._replicated[key] = second

    def ending(self) -> None:
        self.observe()

    def read(self, answer: Answer, epoch: int) -> None:
        if not answer.records:
            return
        last = answer.records[-1].offset
        where = f"{answer.topic}-{answer.partition} from broker {answer.broker}"
        if last >= answer.high_watermark:
            self.broken(f"{where}: offset {last}, high watermark {answer.high_watermark}")
            return
        key = (answer.topic_id, answer.partition)
        if last >= self._replicated.get(key, 0):
            self.observe()
            if last >= self._replicated.get(key, 0):
                self.broken(
                    f"{where}: offset {last} is in one log only "
                    f"(two reach to {self._replicated.get(key, 0)})"
                )
