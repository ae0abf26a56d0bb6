"""Heartbeat (12), versions 0-4: a member says that it lives, and learns of a rebalance.

Behaviour: needs Read on the group. While the coordinator loads, the answer is that all is
well: its session restarts afterwards. Version notes: 3 static members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.group_access import require_group
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    require_group(context, AclOperation.READ, request.group_id)
    try:
        error = context.broker.group_coordinator.heartbeat(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
        )
    except KafkaError as refused:
        if refused.code is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            raise
        error = ErrorCode.NONE
    return HeartbeatResponse(error_code=error)
