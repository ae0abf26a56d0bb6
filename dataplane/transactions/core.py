"""What the parts of one shard share: the ids it coordinates, and how a decision is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.model.errors import ErrorCode
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.records import decode_image, decode_key, record_of
from dataplane.transactions.states import TransactionState
from dataplane.transactions.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.ports.clock import Clock
    from dataplane.transactions.records import TransactionRecord
    from dataplane.transactions.requests import ProducerRequest
    from dataplane.transactions.settings import TransactionSettings
    from dataplane.transactions.transaction import TransactionImage

    Then = Callable[[ErrorCode, Outcome], None]

_WRITE_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}
_UNKNOWN_FATE: Final = frozenset(
    {
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    }
)
"""The record may lie in the log all the same: nothing else may be decided for its id here."""


def write_error(error: ErrorCode) -> ErrorCode:
    """The log's refusal, in words that a producer understands."""
    if error is ErrorCode.NONE:
        return error
    return _WRITE_ERRORS.get(error, ErrorCode.UNKNOWN_SERVER_ERROR)


class ShardCore:
    """Transactional ids that one partition of `__transaction_state` owns."""

    def __init__(self, settings: TransactionSettings, clock: Clock) -> None:
        self.settings = settings
        self.clock = clock
        self.transactions: dict[str, Transaction] = {}

    def replay(self, record: TransactionRecord) -> None:
        """Apply a committed record: the only way in which what is stored changes.

        ValueError when its bytes are not of a version that is known.
        """
        transactional_id = decode_key(record.key)
        if transactional_id is None:
            return
        if record.value is None:
            self.transactions.pop(transactional_id, None)
            return
        image = decode_image(transactional_id, record.value)
        found = self.transactions.get(transactional_id)
        if found is None:
            found = self.transactions[transactional_id] = Transaction(transactional_id)
        if found.pending is not None and found.pending.is_stored_as(image):
            image = found.pending  # it knows the epoch before, which no record holds
        found.image, found.pending = image, None

    def find(self, transactional_id: str) -> Transaction | None:
        return self.transactions.get(transactional_id)

    def find_or_create(self, transactional_id: str) -> Transaction:
        found = self.transactions.get(transactional_id)
        if found is None:
            found = self.transactions[transactional_id] = Transaction(transactional_id)
        return found

    def identify(
        self, request: ProducerRequest
    ) -> tuple[ErrorCode, TransactionImage | None, Transaction | None]:
        """The transaction that the producer may speak for, or why it may not."""
        found = self.find(request.transactional_id)
        if not request.transactional_id:
            return ErrorCode.INVALID_REQUEST, None, None
        if found is None or found.image is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING, None, None
        if request.producer_id != found.image.producer_id:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING, None, None
        if request.producer_epoch != found.image.producer_epoch:
            return ErrorCode.PRODUCER_FENCED, None, None
        return ErrorCode.NONE, found.image, found

    def store(
        self, transaction: Transaction, image: TransactionImage, out: Outcome, then: Then
    ) -> None:
        """Write `image` as the next state; `then` is called with the producer's error.

        What was refused for certain leaves the state as it was. What is unknown stays pending,
        until the record is committed or the partition led elsewhere.
        """
        transaction.pending = image

        def on_done(error: ErrorCode) -> Outcome:
            after = Outcome()
            if error is not ErrorCode.NONE and error not in _UNKNOWN_FATE:
                transaction.pending = None
                if transaction.image is None:
                    self.transactions.pop(transaction.transactional_id, None)
            then(write_error(error), after)
            return after

        out.write([record_of(image)], on_done)

    def states(self) -> dict[TransactionState, int]:
        """How many ids are in which state."""
        counts = dict.fromkeys(TransactionState, 0)
        for transaction in self.transactions.values():
            if transaction.image is not None:
                counts[transaction.image.state] += 1
        return counts
