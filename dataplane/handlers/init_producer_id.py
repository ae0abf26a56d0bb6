"""InitProducerId (22), versions 0-5: a producer id for an idempotent producer.

Behaviour: needs IdempotentWrite on the cluster or Write on any topic (KIP-679). A fresh id at epoch
0 each time, from a block of 1000 that this broker has claimed.
Version notes: 3 a producer may name its old id, which matters to transactions only.
Skipped: transactional ids, which are not served: UNSUPPORTED_VERSION rather than a pretence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    if request.transactional_id is not None:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION if request.transactional_id else ErrorCode.INVALID_REQUEST
        )
    may_write = context.broker.authorizer.authorize_any(
        context.principal, context.connection.client_host, AclOperation.WRITE, ResourceType.TOPIC
    ) or context.authorize(AclOperation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME)
    if not may_write:
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    producer_id = await context.broker.producer_ids.next_id()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
