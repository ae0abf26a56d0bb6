"""DescribeGroups (15), versions 0-5: state, protocol and members of classic groups.

Behaviour: needs Describe on each group. An unknown group is described as Dead, without error.
Members' metadata and assignments are shown only while the group is Stable.
Version notes: 3 the caller's authorised operations; 4 static members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import GroupDescription
from dataplane.handlers.authorized_operations import authorized_operations
from dataplane.handlers.group_access import may_use_group
from dataplane.handlers.turns import in_turns
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


NOT_ASKED = -(2**31)


async def handle(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[
            _describe(context, group_id, with_operations=request.include_authorized_operations)
            async for group_id in in_turns(request.groups)
        ]
    )


def _describe(context: RequestContext, group_id: str, *, with_operations: bool) -> DescribedGroup:
    if not may_use_group(context, AclOperation.DESCRIBE, group_id):
        return DescribedGroup(group_id=group_id, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    try:
        found = context.broker.group_coordinator.describe(group_id)
    except KafkaError as error:
        found = GroupDescription(group_id=group_id, error=error.code)
    operations = NOT_ASKED
    if with_operations and found.error is ErrorCode.NONE:
        operations = authorized_operations(context, ResourceType.GROUP, group_id)
    return DescribedGroup(
        error_code=found.error,
        group_id=group_id,
        group_state=found.state,
        protocol_type=found.protocol_type,
        protocol_data=found.protocol,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in found.members
        ],
        authorized_operations=operations,
    )
