"""IncrementalAlterConfigs (44), versions 0-1: set, delete, append to or subtract from settings.

Behaviour: needs AlterConfigs on the topic, or on the cluster for brokers. Taken by any broker;
each resource has its own result. The write is conditional, so two at once do not lose a change.
Where `penstock.tenant.configs.only` is set, users that are no super users change a tenant's keys of
brokers alone, within a tenant's bounds (POLICY_VIOLATION).
Skipped: resource types broker logger and client metrics (INVALID_REQUEST); dynamic secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.config_changes import changes_from
from dataplane.handlers.config_access import repeated, require
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    admin = context.broker.config_admin
    twice = repeated((item.resource_type, item.resource_name) for item in request.resources)
    response = IncrementalAlterConfigsResponse()
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        result = AlterConfigsResourceResponse(resource_type=kind, resource_name=name)
        response.responses.append(result)
        try:
            require(context, AclOperation.ALTER_CONFIGS, kind, name)
            if (kind, name) in twice:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
                )
            changes = changes_from(
                (item.name, item.config_operation, item.value) for item in resource.configs
            )
            await admin.alter(
                kind,
                name,
                changes,
                validate_only=request.validate_only,
                by_super_user=context.is_super_user,
            )
        except KafkaError as error:
            result.error_code = error.code
            result.error_message = error.message
    return response
