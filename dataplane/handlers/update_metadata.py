"""UpdateMetadata (6), versions 0-8: the controller gives this broker its picture of the cluster.

Behaviour: needs ClusterAction; a deposed controller gets STALE_CONTROLLER_EPOCH, a command for an
earlier life of this broker STALE_BROKER_EPOCH. Partitions named here replace those of the present
image, the list of live brokers replaces the whole list. A full update (type 2, from version 8)
names every topic: what else the image holds is gone. What arrives late changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: UpdateMetadataRequest) -> UpdateMetadataResponse:
    require_cluster_action(context)
    broker = context.broker
    refused = broker.replica_manager.check_controller(
        request.controller_epoch, request.broker_epoch
    )
    if refused != ErrorCode.NONE:
        return UpdateMetadataResponse(error_code=refused)
    broker.metadata_cache.replace(broker.metadata_cache.image.with_update(request))
    return UpdateMetadataResponse()
