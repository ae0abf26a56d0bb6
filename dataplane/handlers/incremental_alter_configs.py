"""IncrementalAlterConfigs (44), versions 0-1: set, delete, append to or subtract from settings.

Behaviour: needs AlterConfigs on the topic or group, or on the cluster for brokers. Taken by any
broker; each resource has its own result. The write is conditional, so two at once do not lose a
change.
Where `penstock.tenant.configs.only` is set, users that are no super users change a tenant's keys of
brokers alone, within a tenant's bounds (POLICY_VIOLATION).
Loggers' levels (KIP-412) are changed in this process alone and kept nowhere.
Skipped: resource type client metrics (INVALID_REQUEST); dynamic secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.config_changes import changes_from
from dataplane.handlers.config_access import alter_each
from dataplane.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.incremental_alter_configs import AlterConfigsResource


async def handle(
    context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    async def alter(resource: AlterConfigsResource) -> None:
        await context.broker.config_admin.alter(
            resource.resource_type,
            resource.resource_name,
            changes_from(
                (item.name, item.config_operation, item.value) for item in resource.configs
            ),
            validate_only=request.validate_only,
            by_super_user=context.is_super_user,
        )

    return IncrementalAlterConfigsResponse(
        responses=await alter_each(context, request.resources, alter, AlterConfigsResourceResponse)
    )
