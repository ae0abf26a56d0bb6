"""SyncGroup (14), versions 0-5: the leader hands in the assignment, every member gets its part.

Behaviour: needs Read on the group. Followers are parked until the leader's assignment is stored.
While the coordinator loads, the rebalance that was under way is lost: REBALANCE_IN_PROGRESS.
Version notes: 3 static members; from 5 protocol type and name are mandatory and checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import SyncRequest
from dataplane.handlers.group_access import require_group
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse:
    require_group(context, AclOperation.READ, request.group_id)
    lacks_protocol = request.protocol_type is None or request.protocol_name is None
    if context.header.api_version >= 5 and lacks_protocol:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    try:
        result = await context.broker.group_coordinator.sync(
            SyncRequest(
                group_id=request.group_id,
                member_id=request.member_id,
                group_instance_id=request.group_instance_id,
                generation=request.generation_id,
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignments={
                    item.member_id: bytes(item.assignment) for item in request.assignments
                },
            )
        )
    except KafkaError as error:
        if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS) from error
        raise
    return SyncGroupResponse(
        error_code=result.error,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )
