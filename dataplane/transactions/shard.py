"""The transactional ids of one partition of `__transaction_state`: what decides about them.

Events go in, an `Outcome` comes out; nothing here waits, writes or sends. Time-outs are driven by
the host: `tick` when `next_deadline_ms` has passed, `abort_timed_out` and `expire` in their turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.transactions.adding import Adding
from dataplane.transactions.core import ShardCore
from dataplane.transactions.ending import Ending
from dataplane.transactions.initializing import Initializing
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.requests import ListedTransaction, TransactionDescription
from dataplane.transactions.states import IDLE, PREPARED, TransactionState

if TYPE_CHECKING:
    from dataplane.ports.clock import Clock
    from dataplane.transactions.markers import Markers
    from dataplane.transactions.records import TransactionRecord
    from dataplane.transactions.settings import TransactionSettings


class TransactionShard:
    """Replay the log with `replay`, then `finish_loading`, then serve."""

    def __init__(self, settings: TransactionSettings, clock: Clock) -> None:
        self.core = ShardCore(settings, clock)
        self.ending = Ending(self.core)
        self.initializing = Initializing(self.core, self.ending)
        self.adding = Adding(self.core)

    # loading and unloading

    def replay(self, record: TransactionRecord) -> None:
        """Apply a committed record; ValueError for an unknown version."""
        self.core.replay(record)

    def finish_loading(self) -> Outcome:
        """The log is read: markers of what was decided are sent, maybe for the second time."""
        out = Outcome()
        for found in self.core.transactions.values():
            if found.image is not None and found.image.state in PREPARED:
                self.ending.send_markers(found, found.image, out)
        return out

    def unload(self) -> Outcome:
        """The partition is led elsewhere now: the next coordinator reads the log."""
        self.core.transactions.clear()
        self.ending.forget_retries()
        return Outcome()

    # time

    def next_deadline_ms(self) -> int | None:
        """On the monotonic clock."""
        return self.ending.next_retry_ms()

    def tick(self) -> Outcome:
        out = Outcome()
        self.ending.retry(out)
        return out

    def abort_timed_out(self) -> Outcome:
        """Due every `transaction.abort.timed.out.transaction.cleanup.interval.ms`."""
        out = Outcome()
        self.ending.abort_timed_out(out)
        return out

    def expire(self) -> Outcome:
        """Forget ids that were idle too long; due every
        `transaction.remove.expired.transaction.cleanup.interval.ms`.
        """
        out = Outcome()
        oldest_ms = self.core.clock.realtime_ms() - self.core.settings.id_expiration_ms
        for found in self.core.transactions.values():
            image = found.image
            if len(out.writes) >= self.core.settings.expired_per_round_max:
                break
            if (
                image is not None
                and found.pending is None
                and image.state in IDLE
                and image.updated_ms <= oldest_ms
            ):
                dead = image.moved(TransactionState.DEAD)
                self.core.store(found, dead, out, lambda _error, _after: None)
        return out

    def markers_written(self, markers: Markers) -> Outcome:
        return self.ending.markers_written(markers)

    # views

    def describe(self, transactional_id: str) -> TransactionDescription:
        """Error INVALID_REQUEST for an empty id, TRANSACTIONAL_ID_NOT_FOUND for an unknown one."""
        if not transactional_id:
            return TransactionDescription(transactional_id="", error=ErrorCode.INVALID_REQUEST)
        found = self.core.find(transactional_id)
        image = found.image if found is not None else None
        if image is None:
            return TransactionDescription(
                transactional_id=transactional_id, error=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
            )
        return TransactionDescription(
            transactional_id=transactional_id,
            state=image.state.label,
            producer_id=image.producer_id,
            producer_epoch=image.producer_epoch,
            timeout_ms=image.timeout_ms,
            start_ms=image.start_ms,
            partitions=tuple(sorted(image.partitions)),
        )

    def list_transactions(self) -> list[ListedTransaction]:
        return [
            ListedTransaction(
                transactional_id=found.transactional_id,
                producer_id=found.image.producer_id,
                state=found.image.state.label,
                start_ms=found.image.start_ms,
            )
            for found in self.core.transactions.values()
            if found.image is not None
        ]
