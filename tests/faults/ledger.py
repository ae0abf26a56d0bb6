"""What was sent, and what the cluster said about it: the verifier's one side of the account."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import threading
from typing import NamedTuple


class Outcome(enum.Enum):
    """What a writer knows of a record. UNKNOWN: it may be in the log or not."""

    PENDING = "pending"
    ACKED = "acked"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclasses.dataclass(slots=True)
class Sent:
    """One record: the `number`-th of its writer. `offset` is the acknowledged one, -1 if none."""

    number: int
    partition: int
    outcome: Outcome = Outcome.PENDING
    offset: int = -1
    error: str = ""
    acked_at_s: float = 0.0
    """Monotonic seconds, 0 while it is not acknowledged."""


class PartitionGap(NamedTuple):
    length_s: float
    partition: int
    began_s: float


class Ledger:
    """All records of one writer, in the order in which they were sent. Ids are `writer:number`."""

    def __init__(self, writer: str, *, is_idempotent: bool) -> None:
        self.writer = writer
        self.is_idempotent = is_idempotent
        self.records: list[Sent] = []
        self.acked_at_s: list[float] = []
        self._lock = threading.Lock()

    def note_sent(self, partition: int) -> Sent:
        sent = Sent(len(self.records), partition)
        self.records.append(sent)
        return sent

    def id_of(self, sent: Sent) -> str:
        return f"{self.writer}:{sent.number}"

    def note_acked(self, sent: Sent, offset: int, at_s: float) -> None:
        with self._lock:
            sent.outcome, sent.offset, sent.acked_at_s = Outcome.ACKED, offset, at_s
            self.acked_at_s.append(at_s)

    def note_error(self, sent: Sent, error: str, *, is_unknown: bool) -> None:
        sent.outcome = Outcome.UNKNOWN if is_unknown else Outcome.FAILED
        sent.error = error

    def count(self, outcome: Outcome) -> int:
        return sum(sent.outcome is outcome for sent in self.records)

    def acked(self) -> list[Sent]:
        return [sent for sent in self.records if sent.outcome is Outcome.ACKED]

    def longest_gap_s(self, since_s: float = 0.0) -> float:
        """The longest time between two acknowledgements after `since_s` (monotonic seconds)."""
        with self._lock:
            times = [at for at in self.acked_at_s if at >= since_s]
        if since_s:
            times.insert(0, since_s)
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)

    def longest_partition_gap_s(self, since_s: float) -> float:
        """As `longest_gap_s`, of the partition that went longest without: others hide its gap."""
        return self.longest_partition_gap(since_s).length_s

    def longest_partition_gap(self, since_s: float) -> PartitionGap:
        """Which that was, and when it began (monotonic seconds)."""
        with self._lock:
            acked = [sent for sent in self.records if sent.acked_at_s >= since_s]
        times: dict[int, list[float]] = {sent.partition: [since_s] for sent in self.records}
        for sent in acked:
            times[sent.partition].append(sent.acked_at_s)
        return max(
            (
                PartitionGap(b - a, partition, a)
                for partition, each in times.items()
                for a, b in itertools.pairwise(sorted(each))
            ),
            default=PartitionGap(0.0, -1, since_s),
        )
