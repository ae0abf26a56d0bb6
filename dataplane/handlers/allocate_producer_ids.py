"""AllocateProducerIds (67), version 0: a broker asks for a block of producer ids.

Behaviour: the controller only; needs ClusterAction. A block of 1000 ids is given away for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.controller_access import require_controller
from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.model.errors import KafkaError
from dataplane.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: AllocateProducerIdsRequest
) -> AllocateProducerIdsResponse:
    try:
        require_cluster_action(context)
        require_controller(context)
        block = await context.broker.controller.submit(
            lambda term: term.producer_ids.allocate(request.broker_id, request.broker_epoch)
        )
    except KafkaError as refusal:
        return AllocateProducerIdsResponse(error_code=refusal.code)
    return AllocateProducerIdsResponse(
        producer_id_start=block.first_id, producer_id_len=block.last_id - block.first_id + 1
    )
