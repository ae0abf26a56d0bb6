"""InitProducerId: a producer takes over a transactional id, and who had it before is fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.requests import InitResult
from dataplane.transactions.states import PREPARED, TransactionState
from dataplane.transactions.transaction import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    TransactionImage,
    is_epoch_exhausted,
)

if TYPE_CHECKING:
    from dataplane.transactions.core import ShardCore
    from dataplane.transactions.ending import Ending
    from dataplane.transactions.outcome import Ticket
    from dataplane.transactions.requests import InitRequest
    from dataplane.transactions.transaction import Transaction


class Initializing:
    """The next epoch of an id that is idle; an abort first if a transaction is open."""

    def __init__(self, core: ShardCore, ending: Ending) -> None:
        self._core = core
        self._ending = ending

    def init(self, request: InitRequest, ticket: Ticket) -> Outcome:
        """Answers an `InitResult`; with `needs_producer_id`, nothing has been decided yet.

        Errors: INVALID_REQUEST, INVALID_TRANSACTION_TIMEOUT, CONCURRENT_TRANSACTIONS (also while
        the transaction of the producer before is being aborted), PRODUCER_FENCED, and what the log
        says.
        """
        out = Outcome()
        error = self._check(request)
        found = self._core.find(request.transactional_id)
        if error is ErrorCode.NONE and found is not None and found.pending is not None:
            error = ErrorCode.CONCURRENT_TRANSACTIONS
        if error is not ErrorCode.NONE:
            out.reply(ticket, InitResult(error=error))
        elif found is None or found.image is None:
            self._create(request, ticket, out)
        else:
            self._take_over(found, found.image, request, ticket, out)
        return out

    def _check(self, request: InitRequest) -> ErrorCode:
        if not request.transactional_id:
            return ErrorCode.INVALID_REQUEST
        if not 0 < request.timeout_ms <= self._core.settings.max_timeout_ms:
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT
        if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    def _create(self, request: InitRequest, ticket: Ticket, out: Outcome) -> None:
        """The id is new here, or has expired: whatever the producer had is worth nothing."""
        if request.fresh_producer_id is None:
            out.reply(ticket, InitResult(needs_producer_id=True))
            return
        image = TransactionImage(
            transactional_id=request.transactional_id,
            producer_id=request.fresh_producer_id,
            producer_epoch=0,
            timeout_ms=request.timeout_ms,
            state=TransactionState.EMPTY,
            updated_ms=self._core.clock.realtime_ms(),
        )
        self._store(self._core.find_or_create(request.transactional_id), image, ticket, out)

    def _take_over(
        self,
        found: Transaction,
        image: TransactionImage,
        request: InitRequest,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        if not _may_go_on(request, image):
            out.reply(ticket, InitResult(error=ErrorCode.PRODUCER_FENCED))
        elif image.state in PREPARED:
            out.reply(ticket, InitResult(error=ErrorCode.CONCURRENT_TRANSACTIONS))
        elif image.state is TransactionState.ONGOING:
            if request.producer_epoch not in (NO_PRODUCER_EPOCH, image.producer_epoch):
                # Only the current producer, or a new one, may end what the current one began.
                out.reply(ticket, InitResult(error=ErrorCode.PRODUCER_FENCED))
            else:
                self._abort_first(found, image, ticket, out)
        elif image.is_epoch_exhausted and request.producer_epoch in (
            NO_PRODUCER_EPOCH,
            image.producer_epoch,
        ):
            self._rotate(found, image, request, ticket, out)
        else:
            self._bump(found, image, request, ticket, out)

    def _abort_first(
        self, found: Transaction, image: TransactionImage, ticket: Ticket, out: Outcome
    ) -> None:
        def answer(error: ErrorCode, after: Outcome) -> None:
            if error is ErrorCode.NONE:
                error = ErrorCode.CONCURRENT_TRANSACTIONS
            after.reply(ticket, InitResult(error=error))

        self._ending.fence(found, image, out, answer)

    def _rotate(
        self,
        found: Transaction,
        image: TransactionImage,
        request: InitRequest,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        """The epochs of this producer id are used up."""
        if request.fresh_producer_id is None:
            out.reply(ticket, InitResult(needs_producer_id=True))
            return
        is_known = request.producer_epoch != NO_PRODUCER_EPOCH
        after = self._emptied(
            image,
            request,
            producer_id=request.fresh_producer_id,
            producer_epoch=0,
            last_producer_id=image.producer_id,
            last_producer_epoch=image.producer_epoch if is_known else NO_PRODUCER_EPOCH,
        )
        self._store(found, after, ticket, out)

    def _bump(
        self,
        found: Transaction,
        image: TransactionImage,
        request: InitRequest,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        if request.producer_epoch == NO_PRODUCER_EPOCH:
            epoch, last = image.producer_epoch + 1, NO_PRODUCER_EPOCH
        elif (
            request.producer_epoch == image.producer_epoch
            and request.producer_id == image.producer_id
        ):
            epoch, last = image.producer_epoch + 1, image.producer_epoch
        elif request.producer_epoch == image.last_producer_epoch:
            # Asked before, and the answer was lost: the same again.
            epoch, last = image.producer_epoch, image.last_producer_epoch
        else:
            out.reply(ticket, InitResult(error=ErrorCode.PRODUCER_FENCED))
            return
        after = self._emptied(image, request, producer_epoch=epoch, last_producer_epoch=last)
        self._store(found, after, ticket, out)

    def _emptied(
        self, image: TransactionImage, request: InitRequest, **changes: int
    ) -> TransactionImage:
        return image.moved(
            TransactionState.EMPTY,
            timeout_ms=request.timeout_ms,
            partitions=frozenset(),
            start_ms=NO_TIMESTAMP,
            updated_ms=self._core.clock.realtime_ms(),
            **changes,
        )

    def _store(
        self, found: Transaction, image: TransactionImage, ticket: Ticket, out: Outcome
    ) -> None:
        def answer(error: ErrorCode, after: Outcome) -> None:
            if error is ErrorCode.NONE:
                result = InitResult(
                    producer_id=image.producer_id, producer_epoch=image.producer_epoch
                )
            else:
                result = InitResult(error=error)
            after.reply(ticket, result)

        self._core.store(found, image, out, answer)


def _may_go_on(request: InitRequest, image: TransactionImage) -> bool:
    """Whether the producer is new, the current one, or asks again for its next producer id."""
    return request.producer_id in (NO_PRODUCER_ID, image.producer_id) or (
        request.producer_id == image.last_producer_id and is_epoch_exhausted(request.producer_epoch)
    )
