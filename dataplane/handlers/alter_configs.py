"""AlterConfigs (33), versions 0-2: replace all overrides of a topic or broker.

Behaviour: as IncrementalAlterConfigs, but what the request does not name goes back to its default.
Kept for clients that know nothing newer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.config_changes import Operation, changes_from
from dataplane.handlers.config_access import alter_each
from dataplane.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.alter_configs import AlterConfigsResource


async def handle(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    async def replace(resource: AlterConfigsResource) -> None:
        await context.broker.config_admin.replace(
            resource.resource_type,
            resource.resource_name,
            changes_from((item.name, Operation.SET, item.value) for item in resource.configs),
            validate_only=request.validate_only,
            by_super_user=context.is_super_user,
        )

    return AlterConfigsResponse(
        responses=await alter_each(
            context, request.resources, replace, AlterConfigsResourceResponse
        )
    )
