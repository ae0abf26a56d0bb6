"""CreateAcls (30), versions 0-3: add ACLs.

Behaviour: needs Alter on the cluster. Taken by any broker; each creation has its own result. What
is answered without error is in force on this broker, and on the others within a watch's delay.
Version notes: 1 pattern types; 3 user resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import binding_from, require_cluster
from dataplane.model.errors import KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.security.acl import AclEntry, ResourcePattern


async def handle(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    require_cluster(context, AclOperation.ALTER)
    results: list[AclCreationResult] = []
    by_pattern: dict[ResourcePattern, list[tuple[int, AclEntry]]] = {}
    for index, creation in enumerate(request.creations):
        results.append(AclCreationResult())
        try:
            pattern, entry = binding_from(creation)
        except KafkaError as error:
            _fail(results[index], error)
        else:
            by_pattern.setdefault(pattern, []).append((index, entry))
    for pattern, numbered in by_pattern.items():
        try:
            await context.broker.authorizer.create(pattern, [entry for _, entry in numbered])
        except KafkaError as error:
            for index, _ in numbered:
                _fail(results[index], error)
    return CreateAclsResponse(results=results)


def _fail(result: AclCreationResult, error: KafkaError) -> None:
    result.error_code = error.code
    result.error_message = error.message
