"""ListPartitionReassignments (46), version 0: which partitions are being moved.

Behaviour: the controller only; needs Describe on the cluster. Null topics ask for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.controller_access import require_controller, require_on_cluster
from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.controller.term import ControllerTerm
    from dataplane.model.partition import PartitionState


async def handle(
    context: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    asked = None
    if request.topics is not None:
        asked = [
            TopicPartition(topic.name, index)
            for topic in request.topics
            for index in topic.partition_indexes
        ]

    async def look(term: ControllerTerm) -> dict[TopicPartition, PartitionState]:
        return term.reassignment.ongoing(asked)

    try:
        require_on_cluster(context, AclOperation.DESCRIBE)
        require_controller(context)
        found = await context.broker.controller.submit(look)
    except KafkaError as refusal:
        return ListPartitionReassignmentsResponse(
            error_code=refusal.code, error_message=refusal.message
        )
    topics: dict[str, OngoingTopicReassignment] = {}
    for partition, state in found.items():
        topic = topics.setdefault(partition.topic, OngoingTopicReassignment(name=partition.topic))
        topic.partitions.append(
            OngoingPartitionReassignment(
                partition_index=partition.partition,
                replicas=list(state.replicas),
                adding_replicas=list(state.adding),
                removing_replicas=list(state.removing),
            )
        )
    return ListPartitionReassignmentsResponse(topics=list(topics.values()))
