"""ListTransactions (66), versions 0-1: the transactional ids that this broker coordinates.

Behaviour: shows the ids that the caller may describe. Filters by state (unknown names are named in
the answer, and match nothing) and by producer id.
Version notes: 1 filter by how long, in milliseconds, a transaction has been open at least; an id
that has not begun one yet matches no such filter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.security.acl import AclOperation, ResourceType
from dataplane.transactions.states import BY_LABEL
from dataplane.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.transactions.requests import ListedTransaction


async def handle(
    context: RequestContext, request: ListTransactionsRequest
) -> ListTransactionsResponse:
    error, listed = context.broker.transaction_coordinator.list_transactions()
    now_ms = context.broker.clock.realtime_ms()
    return ListTransactionsResponse(
        error_code=error,
        unknown_state_filters=[name for name in request.state_filters if name not in BY_LABEL],
        transaction_states=[
            TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state,
            )
            for each in listed
            if _is_asked_for(request, each, now_ms)
            and context.sees(
                AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, each.transactional_id
            )
        ],
    )


def _is_asked_for(request: ListTransactionsRequest, each: ListedTransaction, now_ms: int) -> bool:
    if request.state_filters and each.state not in request.state_filters:
        return False
    if request.producer_id_filters and each.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return each.start_ms >= 0 and now_ms - each.start_ms > request.duration_filter
