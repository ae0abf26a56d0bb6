"""A record is there twice only where idempotence is off and the producer has sent it again.

An idempotent producer that got every answer never gets the answer that its sequence does not fit: that
would mean that the leader forgot a batch which it had acknowledged. (A deposed leader that has not
heard of it yet may say so: it lacks what its successor has acknowledged.)
"""

from __future__ import annotations

from typing import Any

from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from tests.simulation.invariants.base import Invariant


class NoDuplicates(Invariant):
    name = "no duplicates with idempotence"

    def fatal_refusal(self, broker: int, place: Any, code: int, records: list[Any]) -> None:
        if records[0].topic_id in self.sim.oracle.deleted_topics:
            return
        state = self.sim.partition_states().get(TopicPartition(*place))
        if state is None or state[1].leader != broker:
            return
        self.broken(
            f"{records[0].value[:30]!r} to {place[0]}-{place[1]} was refused with "
            f"{ErrorCode.of(code).name}"
        )

    def finish(self) -> None:
        sent = self.sim.oracle.sent
        for value, places in self.sim.verifier.offsets.items():
            record = sent.get(value)
            if record is None:
                self.broken(f"{value[:30]!r} was never sent, yet it is at {places}")
                return
            once = record.is_idempotent or record.is_sent_once or record.acks == 0
            if len(places) > 1 and once:
                self.broken(
                    f"{value[:30]!r} is at offsets {[p[2] for p in places]} of "
                    f"{record.topic}-{record.partition}"
                )
                return
