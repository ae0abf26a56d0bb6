"""LeaveGroup (13), versions 0-5: members leave, or an administrator removes them.

Behaviour: needs Read on the group. A static member may be named by its instance id alone.
Version notes: up to 2 one member and one error; from 3 many, each with its own; 5 reason (unused).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import LeavingMember
from dataplane.handlers.group_access import require_group
from dataplane.model.errors import ErrorCode
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse:
    require_group(context, AclOperation.READ, request.group_id)
    is_batch = context.header.api_version >= 3
    leaving = (
        [LeavingMember(item.member_id, item.group_instance_id) for item in request.members]
        if is_batch
        else [LeavingMember(request.member_id, None)]
    )
    error, left = context.broker.group_coordinator.leave(request.group_id, leaving)
    if not is_batch:
        first = left[0].error if error is ErrorCode.NONE and left else error
        return LeaveGroupResponse(error_code=first)
    return LeaveGroupResponse(
        error_code=error,
        members=[
            MemberResponse(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                error_code=member.error,
            )
            for member in left
        ],
    )
