"""EndTxn (26), versions 0-4: commit or abort a transaction.

Behaviour: needs Write on the transactional id. Answers once the decision is committed to
`__transaction_state`; markers follow, and until they are written the next request of this producer
is CONCURRENT_TRANSACTIONS.
Version notes: 2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.transaction_access import require_transactional_id, spoken
from dataplane.transactions.requests import EndRequest
from dataplane.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

FENCED_SINCE = 2


async def handle(context: RequestContext, request: EndTxnRequest) -> EndTxnResponse:
    require_transactional_id(context, request.transactional_id)
    error = await context.broker.transaction_coordinator.end(
        EndRequest(
            transactional_id=request.transactional_id,
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
            is_commit=request.committed,
        )
    )
    return EndTxnResponse(error_code=spoken(context, error, fenced_since=FENCED_SINCE))
