"""How a transaction ends: decided by one record, told to its partitions, closed by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.transactions.markers import Markers
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.states import PREPARED, TransactionState
from dataplane.transactions.transaction import EPOCH_MAX, NO_PRODUCER_EPOCH

if TYPE_CHECKING:
    from dataplane.transactions.core import ShardCore, Then
    from dataplane.transactions.outcome import Ticket
    from dataplane.transactions.requests import EndRequest
    from dataplane.transactions.transaction import Transaction, TransactionImage

_COMPLETED = {
    TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
}
_ALREADY = {
    # state → (what was decided, the answer to whoever decides the same)
    TransactionState.PREPARE_COMMIT: (True, ErrorCode.CONCURRENT_TRANSACTIONS),
    TransactionState.PREPARE_ABORT: (False, ErrorCode.CONCURRENT_TRANSACTIONS),
    TransactionState.COMPLETE_COMMIT: (True, ErrorCode.NONE),
    TransactionState.COMPLETE_ABORT: (False, ErrorCode.NONE),
}


class Ending:
    """The Prepare record is the point of no return; from then on only the Complete one follows."""

    def __init__(self, core: ShardCore) -> None:
        self._core = core
        self._retry_due_ms: dict[str, int] = {}
        self.timed_out = 0
        """Transactions aborted since the start because their producer took too long."""

    def end(self, request: EndRequest, ticket: Ticket) -> Outcome:
        """Answers an ErrorCode once the decision is committed; markers follow by themselves.

        INVALID_REQUEST, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED; CONCURRENT_TRANSACTIONS while
        a write or the markers of the same decision are under way; INVALID_TXN_STATE when nothing is
        open or the other was decided; or what the log says.
        """
        out = Outcome()
        error, image, found = self._core.identify(request)
        if image is None or found is None:
            out.reply(ticket, error)
        elif found.pending is not None:
            out.reply(ticket, ErrorCode.CONCURRENT_TRANSACTIONS)
        elif image.state is TransactionState.ONGOING:
            after = image.moved(
                TransactionState.PREPARE_COMMIT
                if request.is_commit
                else TransactionState.PREPARE_ABORT,
                updated_ms=self._core.clock.realtime_ms(),
            )
            self._prepare(found, after, out, lambda error, then: then.reply(ticket, error))
        else:
            out.reply(ticket, _repeated(image, is_commit=request.is_commit))
        return out

    def fence(self, found: Transaction, image: TransactionImage, out: Outcome, then: Then) -> None:
        """Abort an open transaction with an epoch that its producer does not have."""
        now_ms = self._core.clock.realtime_ms()
        fenced = image.moved(
            TransactionState.PREPARE_EPOCH_FENCE,
            producer_epoch=min(image.producer_epoch + 1, EPOCH_MAX),
            last_producer_epoch=NO_PRODUCER_EPOCH,
        )
        after = fenced.moved(TransactionState.PREPARE_ABORT, updated_ms=now_ms)
        self._prepare(found, after, out, then)

    def _prepare(
        self, found: Transaction, image: TransactionImage, out: Outcome, then: Then
    ) -> None:
        def decided(error: ErrorCode, after: Outcome) -> None:
            then(error, after)
            if error is ErrorCode.NONE:
                self.send_markers(found, image, after)

        self._core.store(found, image, out, decided)

    def send_markers(self, found: Transaction, image: TransactionImage, out: Outcome) -> None:
        found.markers = Markers(
            image.transactional_id,
            image.producer_id,
            image.producer_epoch,
            image.state is TransactionState.PREPARE_COMMIT,
            image.partitions,
        )
        out.markers.append(found.markers)

    def markers_written(self, markers: Markers) -> Outcome:
        """Every partition has its marker. Markers of another transaction are ignored."""
        out = Outcome()
        found = self._core.find(markers.transactional_id)
        if found is not None and found.markers is markers and found.image is not None:
            found.markers = None
            self._complete(found, found.image, out)
        return out

    def _complete(self, found: Transaction, image: TransactionImage, out: Outcome) -> None:
        after = image.moved(
            _COMPLETED[image.state],
            partitions=frozenset(),
            updated_ms=self._core.clock.realtime_ms(),
        )

        def done(error: ErrorCode, _after: Outcome) -> None:
            if error is not ErrorCode.NONE and found.pending is None:
                retry_ms = self._core.settings.completion_retry_ms
                due_ms = self._core.clock.monotonic_ms() + retry_ms
                self._retry_due_ms[found.transactional_id] = due_ms

        self._core.store(found, after, out, done)

    # by the clock

    @property
    def retries_waiting(self) -> int:
        """Transactions whose last record the log has refused, to be tried again."""
        return len(self._retry_due_ms)

    def next_retry_ms(self) -> int | None:
        """On the monotonic clock; None when no completion waits."""
        return min(self._retry_due_ms.values(), default=None)

    def retry(self, out: Outcome) -> None:
        now_ms = self._core.clock.monotonic_ms()
        due = [name for name, due_ms in self._retry_due_ms.items() if due_ms <= now_ms]
        for transactional_id in due:
            del self._retry_due_ms[transactional_id]
            found = self._core.find(transactional_id)
            image = found.image if found is not None else None
            if (
                found is not None
                and image is not None
                and found.pending is None
                and image.state in PREPARED
            ):
                self._complete(found, image, out)

    def forget_retries(self) -> None:
        self._retry_due_ms.clear()

    def abort_timed_out(self, out: Outcome) -> None:
        """Abort every open transaction that is older than its producer's timeout."""
        now_ms = self._core.clock.realtime_ms()
        for found in self._core.transactions.values():
            image = found.image
            if (
                image is not None
                and found.pending is None
                and image.state is TransactionState.ONGOING
                and image.start_ms + image.timeout_ms < now_ms
            ):
                self.fence(found, image, out, self._count_timed_out)

    def _count_timed_out(self, error: ErrorCode, _after: Outcome) -> None:
        if error is ErrorCode.NONE:
            self.timed_out += 1


def _repeated(image: TransactionImage, *, is_commit: bool) -> ErrorCode:
    """What EndTxn is answered when no transaction is open."""
    decided = _ALREADY.get(image.state)
    if decided is None or decided[0] != is_commit:
        return ErrorCode.INVALID_TXN_STATE
    return decided[1]
