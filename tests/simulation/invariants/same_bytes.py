"""Same epoch and offset below the watermark: same bytes, on every replica and for every reader.

Readers: what was read at an offset of a topic id never reads differently later. Replicas: in the end
the logs of all replicas are the same batch by batch, bytes and epochs.
"""

from __future__ import annotations

from typing import Any

from dataplane.wire.record_batch import iter_batches
from tests.simulation.clients.consumer import Answer
from tests.simulation.invariants.base import Invariant
from tests.simulation.oracle import SeenRecord


class SameBytes(Invariant):
    name = "same offset, same bytes"

    def read(self, answer: Answer, epoch: int) -> None:
        seen = self.sim.oracle.seen.setdefault((answer.topic_id, answer.partition), {})
        for record in answer.records:
            known = seen.get(record.offset)
            if known is None:
                seen[record.offset] = SeenRecord(record.value, record.leader_epoch)
            elif (known.value, known.leader_epoch) != (record.value, record.leader_epoch):
                self.broken(
                    f"{answer.topic}-{answer.partition} offset {record.offset}: "
                    f"{known.value[:30]!r} of epoch {known.leader_epoch} became "
                    f"{record.value[:30]!r} of epoch {record.leader_epoch} at broker {answer.broker}"
                )
                return

    def finish(self) -> None:
        for tp, replicas in self.sim.replicas().items():
            first = None
            for replica in replicas:
                batches = batches_of(replica.partition.log)
                if first is None:
                    first = (replica, batches)
                    continue
                start = max(min(first[1], default=0), min(batches, default=0))
                ours = {at: data for at, data in batches.items() if at >= start}
                theirs = {at: data for at, data in first[1].items() if at >= start}
                if ours != theirs:
                    at = next(a for a in sorted({*ours, *theirs}) if ours.get(a) != theirs.get(a))
                    self.broken(
                        f"{tp}: the logs of {replica.machine.name} and {first[0].machine.name} "
                        f"differ at offset {at}"
                    )
                    return


def batches_of(log: Any) -> dict[int, bytes]:
    """Every batch on disk, by base offset."""
    found: dict[int, bytes] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, 1 << 20, log.log_end_offset).read()
        after = offset
        for position, header in iter_batches(data):
            found[header.base_offset] = data[position : position + header.size_bytes]
            after = header.next_offset
        if after == offset:
            break
        offset = after
    return found
