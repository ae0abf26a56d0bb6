"""JoinGroup (11), versions 0-9: become a member of a classic group, or of its next generation.

Behaviour: needs Read on the group. The answer is parked until the generation begins.
Version notes: 0 has no rebalance timeout (the session's is used); from 4 a first join is answered
MEMBER_ID_REQUIRED with an id; 5 static members; from 7 the protocol's name may be null; 8 reason
(logged nowhere: it is the client's own text); 9 a returning static leader may skip the assignment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import JoinRequest, Protocol
from dataplane.handlers.group_access import require_group
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
    require_group(context, AclOperation.READ, request.group_id)
    version = context.header.api_version
    has_rebalance_timeout = request.rebalance_timeout_ms >= 0
    result = await context.broker.group_coordinator.join(
        JoinRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            client_id=context.header.client_id or "",
            client_host=f"/{context.connection.client_host}",
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms
            if has_rebalance_timeout
            else request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=tuple(
                Protocol(item.name, bytes(item.metadata)) for item in request.protocols
            ),
            require_known_member_id=version >= 4 and request.group_instance_id is None,
            skip_assignment_supported=version >= 9,
        )
    )
    protocol_name = result.protocol_name
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation,
        protocol_type=result.protocol_type,
        protocol_name=protocol_name if version >= 7 else protocol_name or "",
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata,
            )
            for member in result.members
        ],
    )
