"""ListGroups (16), versions 0-5: the groups that this broker coordinates.

Behaviour: Describe on the cluster shows all groups, else those the caller may describe.
Version notes: 4 states and their filter; 5 types (classic, consumer) and their filter.
Filters do not mind case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    error, groups = context.broker.group_coordinator.list_groups()
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    sees_all = context.sees(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    return ListGroupsResponse(
        error_code=error,
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state,
                group_type=group.kind,
            )
            for group in groups
            if (not states or group.state.lower() in states)
            and (not types or group.kind in types)
            and (
                sees_all or context.sees(AclOperation.DESCRIBE, ResourceType.GROUP, group.group_id)
            )
        ],
    )
