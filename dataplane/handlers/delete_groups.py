"""DeleteGroups (42), versions 0-2: forget empty groups with everything they have committed.

Behaviour: needs Delete on each group. A group with members gets NON_EMPTY_GROUP, an unknown one
GROUP_ID_NOT_FOUND; each group has its own error.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.handlers.group_access import may_use_group
from dataplane.handlers.turns import TURN_ITEMS
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    group_ids = list(dict.fromkeys(request.groups_names))
    results = []
    # Those of one turn are deleted together.
    for begin in range(0, len(group_ids), TURN_ITEMS):
        turn = group_ids[begin : begin + TURN_ITEMS]
        errors = await asyncio.gather(*(_delete(context, group_id) for group_id in turn))
        results += [
            DeletableGroupResult(group_id=group_id, error_code=error)
            for group_id, error in zip(turn, errors, strict=True)
        ]
        await asyncio.sleep(0)
    return DeleteGroupsResponse(results=results)


async def _delete(context: RequestContext, group_id: str) -> ErrorCode:
    if not may_use_group(context, AclOperation.DELETE, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    try:
        return await context.broker.group_coordinator.delete_group(group_id)
    except KafkaError as error:
        return error.code
