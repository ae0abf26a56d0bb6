"""AlterReplicaLogDirs (34), versions 0-2: move replicas between this broker's log directories.

Behaviour: needs Alter on the cluster. The answer says whether the move has begun; its progress is
seen in DescribeLogDirs (`is_future_key`). Naming the directory where a replica lies ends a move.
A replica that is not here yet gets REPLICA_NOT_AVAILABLE and is made there later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    is_allowed = context.authorize(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                if is_allowed:
                    tp = TopicPartition(topic.name, index)
                    error = _begin(context, tp, directory.path)
                topics.setdefault(
                    topic.name, AlterReplicaLogDirTopicResult(topic_name=topic.name)
                ).partitions.append(
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                )
    return AlterReplicaLogDirsResponse(results=list(topics.values()))


def _begin(context: RequestContext, topic_partition: TopicPartition, path: str) -> ErrorCode:
    try:
        context.broker.replica_manager.alter_log_dirs.begin(topic_partition, path)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE
