"""One transactional id: what is stored of it, and the next state while that is being written."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from dataplane.transactions.states import TransactionState, check_move

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition
    from dataplane.transactions.markers import Markers

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1
EPOCH_MAX: Final = 2**15 - 1
"""Reached only by fencing, so that the epoch before it is the last one a producer is given."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TransactionImage:
    """One state of a transactional id. Times are milliseconds since the Unix epoch, -1 for none.

    `last_producer_id` and `last_producer_epoch` are those before the last bump that the producer
    itself asked for: it may ask again when the answer is lost. They are not stored, as in Kafka.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIMESTAMP
    updated_ms: int = NO_TIMESTAMP
    last_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the next producer needs another producer id."""
        return is_epoch_exhausted(self.producer_epoch)

    def moved(self, state: TransactionState, **changes: Any) -> TransactionImage:
        """The image after a move. IllegalTransitionError for a move that the table lacks."""
        check_move(self.transactional_id, self.state, state)
        return dataclasses.replace(self, state=state, **changes)

    def is_stored_as(self, other: TransactionImage) -> bool:
        """Whether the records of both are the same."""
        return self == dataclasses.replace(
            other,
            last_producer_id=self.last_producer_id,
            last_producer_epoch=self.last_producer_epoch,
        )


class Transaction:
    """`image` is what is committed to the log, None before the first; `pending` is on its way.

    `markers` are those being sent: successive transactions of one producer have the same epoch.

    While something is pending nothing else is decided: there is one write at a time for an id, so
    its records are a history without branches.
    """

    __slots__ = ("image", "markers", "pending", "transactional_id")

    def __init__(self, transactional_id: str, image: TransactionImage | None = None) -> None:
        self.transactional_id = transactional_id
        self.image = image
        self.pending: TransactionImage | None = None
        self.markers: Markers | None = None


def is_epoch_exhausted(epoch: int) -> bool:
    return epoch >= EPOCH_MAX - 1
