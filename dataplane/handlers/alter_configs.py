"""AlterConfigs (33), versions 0-2: replace all overrides of a topic or broker.

Behaviour: as IncrementalAlterConfigs, but what the request does not name goes back to its default.
Kept for clients that know nothing newer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.config_changes import Operation, changes_from
from dataplane.handlers.config_access import repeated, require
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    admin = context.broker.config_admin
    twice = repeated((item.resource_type, item.resource_name) for item in request.resources)
    response = AlterConfigsResponse()
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
                (item.name, Operation.SET, item.value) for item in resource.configs
            )
            await admin.replace(
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
