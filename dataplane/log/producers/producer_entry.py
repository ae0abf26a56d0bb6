"""What a partition remembers of one producer, and whether its next batch fits."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.integers import INT32_MAX
from dataplane.wire.batch_layout import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP

BATCHES_REMEMBERED = 5
NO_COORDINATOR_EPOCH = -1
NO_OFFSET = -1


class BatchTrace(NamedTuple):
    """A batch that a producer wrote: enough to recognise it when it is sent again."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


def sequence_plus(sequence: int, increment: int) -> int:
    """Sequence numbers wrap from int32's maximum to 0."""
    after = sequence + increment
    return after if after <= INT32_MAX else after - INT32_MAX - 1


def sequence_minus(sequence: int, decrement: int) -> int:
    before = sequence - decrement
    return before if before >= 0 or sequence < 0 else before + INT32_MAX + 1


@dataclasses.dataclass(slots=True)
class ProducerEntry:
    """Epoch, last batches and open transaction of one producer id in one partition."""

    producer_id: int
    epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp_ms: int = NO_TIMESTAMP
    transaction_first_offset: int = NO_OFFSET
    next_sequence: int = 0
    """What must come next in this epoch."""
    is_from_snapshot: bool = dataclasses.field(default=False, compare=False)
    """There may have been batches before the first one of `batches`."""
    batches: deque[BatchTrace] = dataclasses.field(
        default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED)
    )

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    def remember(self, base_sequence: int, last_offset: int, delta: int, timestamp_ms: int) -> None:
        """A batch of the current epoch was appended."""
        last_sequence = base_sequence + delta
        if last_sequence > INT32_MAX:
            last_sequence -= INT32_MAX + 1
        self.batches.append(BatchTrace(last_sequence, last_offset, delta, timestamp_ms))
        self.next_sequence = last_sequence + 1 if last_sequence != INT32_MAX else 0
        self.last_timestamp_ms = timestamp_ms

    def recall(self, earlier: Sequence[BatchTrace]) -> None:
        """Batches that were appended before the first one that is remembered."""
        self.is_from_snapshot = False
        self.batches.extendleft(reversed(earlier))

    def duplicate_of(self, epoch: int, base_sequence: int, last_sequence: int) -> BatchTrace | None:
        """The remembered batch with just these sequence numbers, if the epoch is the same."""
        if epoch == self.epoch:
            for trace in reversed(self.batches):
                if (
                    trace.last_sequence == last_sequence
                    and sequence_minus(last_sequence, trace.offset_delta) == base_sequence
                ):
                    return trace
        return None

    def check_epoch(self, epoch: int) -> None:
        if epoch < self.epoch:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Producer {self.producer_id} wrote with epoch {epoch}; "
                f"the partition has seen {self.epoch}.",
            )

    def check_sequence(self, epoch: int, base_sequence: int) -> None:
        """The next batch continues the sequence; an unknown producer may begin anywhere."""
        if self.epoch == NO_PRODUCER_EPOCH:
            return
        expected = self.next_sequence if epoch == self.epoch else 0
        if base_sequence != expected:
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Producer {self.producer_id} sent sequence {base_sequence}, "
                f"expected {expected} (epoch {epoch}).",
            )

    def move_to_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.is_from_snapshot = False
            self.batches.clear()
            self.next_sequence = 0
