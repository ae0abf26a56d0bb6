"""DescribeCluster (60), versions 0-1: brokers, controller, cluster id.

Behaviour: the brokers are shown as they listen under the name of the listener that was asked.
Version notes: 1 distinguishes brokers and controllers; a ZooKeeper-mode broker knows brokers only
(UNSUPPORTED_ENDPOINT_TYPE otherwise, KIP-919).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.authorized_operations import authorized_operations
from dataplane.model.errors import ErrorCode
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

BROKERS = 1


async def handle(
    context: RequestContext, request: DescribeClusterRequest
) -> DescribeClusterResponse:
    here = context.broker
    if request.endpoint_type != BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="this listener serves brokers",
        )
    listener = context.connection.listener_name
    response = DescribeClusterResponse(
        cluster_id=here.cluster_id,
        controller_id=here.controller_client.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
            for broker in here.metadata_cache.image.brokers.values()
            if (endpoint := broker.listeners.get(listener)) is not None
        ],
    )
    if request.include_cluster_authorized_operations and context.sees(
        AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME
    ):
        response.cluster_authorized_operations = authorized_operations(
            context, ResourceType.CLUSTER
        )
    return response
