"""DeleteAcls (31), versions 0-3: remove the ACLs that match filters, and say which those were.

Behaviour: needs Alter on the cluster. Taken by any broker; each filter has its own result.
Version notes: 1 pattern types; 3 user resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import filter_from, require_cluster
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.security.acl import AclEntry, ResourcePattern


async def handle(context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    require_cluster(context, AclOperation.ALTER)
    return DeleteAclsResponse(
        filter_results=[await _delete(context, asked) for asked in request.filters]
    )


async def _delete(context: RequestContext, asked: DeleteAclsFilter) -> DeleteAclsFilterResult:
    authorizer = context.broker.authorizer
    try:
        found = authorizer.find(filter_from(asked))
    except KafkaError as error:
        return DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
    by_pattern: dict[ResourcePattern, list[AclEntry]] = {}
    for pattern, entry in sorted(found):
        by_pattern.setdefault(pattern, []).append(entry)
    result = DeleteAclsFilterResult()
    for pattern, entries in by_pattern.items():
        code, message = ErrorCode.NONE, None
        try:
            await authorizer.delete(pattern, entries)
        except KafkaError as error:
            code, message = error.code, error.message
        result.matching_acls += [
            DeleteAclsMatchingAcl(
                error_code=code,
                error_message=message,
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.pattern_type,
                principal=str(entry.principal),
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for entry in entries
        ]
    return result
