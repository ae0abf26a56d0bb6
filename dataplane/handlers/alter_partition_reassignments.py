"""AlterPartitionReassignments (45), version 0: move partitions to other brokers, or cancel a move.

Behaviour: the controller only; needs Alter on the cluster. Null replicas cancel. The answer says
that a move has begun; ListPartitionReassignments and the log directories show how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.controller_access import (
    require_controller,
    require_on_cluster,
    wait_until_known,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    try:
        require_on_cluster(context, AclOperation.ALTER)
        require_controller(context)
        targets = {
            TopicPartition(topic.name, item.partition_index): (
                None if item.replicas is None else tuple(item.replicas)
            )
            for topic in request.topics
            for item in topic.partitions
        }
        outcomes = await context.broker.controller.submit(
            lambda term: term.reassignment.reassign(targets)
        )
    except KafkaError as refusal:
        return AlterPartitionReassignmentsResponse(
            error_code=refusal.code, error_message=refusal.message
        )
    await wait_until_known(context, request.timeout_ms)
    return AlterPartitionReassignmentsResponse(
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _result(
                        item.partition_index,
                        outcomes[TopicPartition(topic.name, item.partition_index)],
                    )
                    for item in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _result(index: int, refusal: KafkaError | None) -> ReassignablePartitionResponse:
    return ReassignablePartitionResponse(
        partition_index=index,
        error_code=refusal.code if refusal else ErrorCode.NONE,
        error_message=refusal.message if refusal else None,
    )
