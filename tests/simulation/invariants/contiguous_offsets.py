"""Offsets have no gaps: what is not compacted is read in steps of one, from the log's start on.

A fetch from below the high watermark that it names finds something, or its reader would stop there.
"""

from __future__ import annotations

from dataplane.wire.record_batch import BatchHeader
from tests.simulation.clients.consumer import Answer
from tests.simulation.invariants.base import Invariant
from tests.simulation.invariants.same_bytes import batches_of


class ContiguousOffsets(Invariant):
    name = "offsets are contiguous"

    def read(self, answer: Answer, epoch: int) -> None:
        wanted = answer.asked_offset
        if wanted < answer.high_watermark and not answer.records:
            self.broken(
                f"{answer.topic}-{answer.partition} at broker {answer.broker}: nothing comes at "
                f"{wanted}, the high watermark is {answer.high_watermark}"
            )
        for record in answer.records:
            if record.offset != wanted:
                self.broken(
                    f"{answer.topic}-{answer.partition} at broker {answer.broker}: "
                    f"{record.offset} comes where {wanted} should"
                )
                return
            wanted += 1

    def finish(self) -> None:
        for tp, replicas in self.sim.replicas().items():
            for replica in replicas:
                wanted = None
                for base, batch in sorted(batches_of(replica.partition.log).items()):
                    if wanted is not None and base != wanted:
                        self.broken(f"{tp} at {replica.machine.name}: {base} follows {wanted - 1}")
                        return
                    wanted = BatchHeader.parse(batch).next_offset
