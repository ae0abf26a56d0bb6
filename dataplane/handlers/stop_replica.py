"""StopReplica (5), versions 0-4: stop serving replicas here, and delete their logs if asked to.

Behaviour: needs ClusterAction; stale controllers and stale broker epochs are refused as a whole, a
lower leader epoch per partition (FENCED_LEADER_EPOCH). A replica that is not here is no error.
Version notes: 1 groups by topic, 3 carries leader epochs and deletes per partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.context import RequestContext

UNKNOWN_EPOCH = -1


async def handle(context: RequestContext, request: StopReplicaRequest) -> StopReplicaResponse:
    require_cluster_action(context)
    replica_manager = context.broker.replica_manager
    refused = replica_manager.check_controller(request.controller_epoch, request.broker_epoch)
    if refused != ErrorCode.NONE:
        return StopReplicaResponse(error_code=refused)
    return StopReplicaResponse(
        partition_errors=[
            StopReplicaPartitionError(
                topic_name=topic,
                partition_index=index,
                error_code=replica_manager.stop_replica(
                    TopicPartition(topic, index), leader_epoch, delete=delete
                ),
            )
            for topic, index, leader_epoch, delete in _wanted(request)
        ]
    )


def _wanted(request: StopReplicaRequest) -> Iterator[tuple[str, int, int, bool]]:
    for ungrouped in request.ungrouped_partitions:
        yield (
            ungrouped.topic_name,
            ungrouped.partition_index,
            UNKNOWN_EPOCH,
            request.delete_partitions,
        )
    for topic in request.topics:
        for index in topic.partition_indexes:
            yield topic.name, index, UNKNOWN_EPOCH, request.delete_partitions
    for state in request.topic_states:
        for partition in state.partition_states:
            yield (
                state.topic_name,
                partition.partition_index,
                partition.leader_epoch,
                partition.delete_partition,
            )
