"""InitProducerId (22), versions 0-5: a producer id for an idempotent or transactional producer.

Behaviour: without a transactional id it needs IdempotentWrite on the cluster or Write on any topic
(KIP-679), and gives a fresh id at epoch 0 each time, from a block of 1000 that this broker has
claimed. With one it needs Write on the transactional id: its coordinator gives its producer id at
the next epoch, and aborts an open transaction first (CONCURRENT_TRANSACTIONS until that is done).
Version notes: 3 a producer may name its id and epoch, to go on after an error; 4 PRODUCER_FENCED
instead of INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.transaction_access import require_transactional_id, spoken
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.transactions.requests import InitRequest
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

FENCED_SINCE = 4


async def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    if request.transactional_id is not None:
        return await _transactional(context, request, request.transactional_id)
    may_write = context.broker.authorizer.authorize_any(
        context.principal, context.connection.client_host, AclOperation.WRITE, ResourceType.TOPIC
    ) or context.authorize(AclOperation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME)
    if not may_write:
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    producer_id = await context.broker.producer_ids.next_id()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


async def _transactional(
    context: RequestContext, request: InitProducerIdRequest, transactional_id: str
) -> InitProducerIdResponse:
    require_transactional_id(context, transactional_id)
    result = await context.broker.transaction_coordinator.init_producer_id(
        InitRequest(
            transactional_id=transactional_id,
            timeout_ms=request.transaction_timeout_ms,
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
        )
    )
    return InitProducerIdResponse(
        error_code=spoken(context, result.error, fenced_since=FENCED_SINCE),
        producer_id=result.producer_id,
        producer_epoch=result.producer_epoch,
    )
