"""No acknowledged record is lost, and no refused one is there.

Holds for acks=all with min.insync.replicas=2 under clean election: each such record is read in the
end at the offset that was acknowledged. A consumer that has read up to an offset never learns that
the log ends before it. Records that were definitely refused are read nowhere.
Not promised: acks=0 and acks=1; several replicas losing unsynced pages at the same time.
"""

from __future__ import annotations

import uuid

from tests.simulation.invariants.base import Invariant
from tests.simulation.oracle import Fate


class AcknowledgedSurvive(Invariant):
    name = "acknowledged records survive"

    def out_of_range(
        self, consumer: str, broker: int, key: tuple[str, uuid.UUID, int], offset: int
    ) -> None:
        if key[1] not in self.sim.oracle.deleted_topics:
            self.broken(
                f"{consumer} had read {key[0]}-{key[2]} up to {offset}; broker {broker}"
                " says that is out of range"
            )

    def finish(self) -> None:
        found = self.sim.verifier.offsets
        for sent in self.sim.oracle.acknowledged():
            places = found.get(sent.value, [])
            if (sent.topic_id, sent.partition, sent.offset) not in places:
                self.broken(
                    f"{_short(sent.value)} was acknowledged at {sent.topic}-{sent.partition} offset "
                    f"{sent.offset}; in the end it is at {[place[2] for place in places]}"
                )
                return
        for sent in self.sim.oracle.sent.values():
            if sent.fate is Fate.FAILED and sent.value in found:
                self.broken(f"{_short(sent.value)} was refused, yet it is in {sent.topic}")
                return


def _short(value: bytes) -> str:
    return value.decode().rstrip(".")
