"""OffsetDelete (47), version 0 (KIP-496): forget committed offsets of a group.

Behaviour: needs Delete on the group and Read on each topic. Topics that the group is subscribed to
are refused with GROUP_SUBSCRIBED_TO_TOPIC; a group of another protocol must be empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.group_access import require_group, topic_errors
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    require_group(context, AclOperation.DELETE, request.group_id)
    names = {topic.name for topic in request.topics}
    refused = topic_errors(context, AclOperation.READ, names, must_exist=True)
    allowed = [
        TopicPartition(topic.name, asked.partition_index)
        for topic in request.topics
        if topic.name not in refused
        for asked in topic.partitions
    ]
    error, errors = await context.broker.group_coordinator.delete_offsets(request.group_id, allowed)
    if error is not ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=error)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=refused[topic.name]
                        if topic.name in refused
                        else errors[TopicPartition(topic.name, asked.partition_index)],
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
