"""AddPartitionsToTxn and AddOffsetsToTxn: what the transaction writes to; and its verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.states import PREPARED, TransactionState

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition
    from dataplane.transactions.core import ShardCore
    from dataplane.transactions.outcome import Ticket
    from dataplane.transactions.requests import PartitionsRequest


class Adding:
    """The first partition begins the transaction."""

    def __init__(self, core: ShardCore) -> None:
        self._core = core

    def add(self, request: PartitionsRequest, ticket: Ticket) -> Outcome:
        """Answers an ErrorCode: INVALID_REQUEST, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED,
        CONCURRENT_TRANSACTIONS (the one before is not complete), or what the log says.
        """
        out = Outcome()
        error, image, found = self._core.identify(request)
        if image is None or found is None:
            out.reply(ticket, error)
            return out
        if found.pending is not None or image.state in PREPARED:
            out.reply(ticket, ErrorCode.CONCURRENT_TRANSACTIONS)
            return out
        is_open = image.state is TransactionState.ONGOING
        if is_open and request.partitions <= image.partitions:
            out.reply(ticket, ErrorCode.NONE)
            return out
        now_ms = self._core.clock.realtime_ms()
        after = image.moved(
            TransactionState.ONGOING,
            partitions=image.partitions | request.partitions if is_open else request.partitions,
            start_ms=image.start_ms if is_open else now_ms,
            updated_ms=now_ms,
        )
        self._core.store(found, after, out, lambda error, then: then.reply(ticket, error))
        return out

    def verify(
        self, request: PartitionsRequest
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Whether each partition is in the open transaction: NONE or TRANSACTION_ABORTABLE.

        The first error is for them all, as in `add`. Nothing is changed (KIP-890).
        """
        error, image, _found = self._core.identify(request)
        if image is None:
            return error, {}
        if image.state in PREPARED:
            return ErrorCode.CONCURRENT_TRANSACTIONS, {}
        return ErrorCode.NONE, {
            partition: (
                ErrorCode.NONE if partition in image.partitions else ErrorCode.TRANSACTION_ABORTABLE
            )
            for partition in request.partitions
        }
