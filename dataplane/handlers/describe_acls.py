"""DescribeAcls (29), versions 0-3: the ACLs that match a filter, grouped by resource pattern.

Behaviour: needs Describe on the cluster; SECURITY_DISABLED without an authorizer.
Version notes: 1 pattern types (before, literal only); 3 user resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import filter_from, require_cluster
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.security.acl import ResourcePattern


async def handle(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    require_cluster(context, AclOperation.DESCRIBE)
    resources: dict[ResourcePattern, DescribeAclsResource] = {}
    for pattern, entry in sorted(context.broker.authorizer.find(filter_from(request))):
        resource = resources.get(pattern)
        if resource is None:
            resource = resources[pattern] = DescribeAclsResource(
                resource_type=pattern.resource_type,
                resource_name=pattern.name,
                pattern_type=pattern.pattern_type,
            )
        resource.acls.append(
            AclDescription(
                principal=str(entry.principal),
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
        )
    return DescribeAclsResponse(resources=list(resources.values()))
