"""DescribeLogDirs (35), versions 0-4: sizes of the replicas on this broker, by log directory.

Behaviour: needs Describe on the cluster; without it the answer is empty (v0-2) or an error (v3+).
`offset_lag` is how far the replica is behind the high watermark it knows, never negative;
for a copy that is to take the replica's place (`is_future_key`), how far it is behind the replica.
Version notes: 3 adds a top-level error, 4 the size and the free space of the volume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.log.manager.log_manager import DirectoryReport


async def handle(
    context: RequestContext, request: DescribeLogDirsRequest
) -> DescribeLogDirsResponse:
    if not context.authorize(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    wanted = (
        None
        if request.topics is None
        else {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    )
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                error_code=report.error,
                log_dir=report.path,
                topics=_topics(context, report, wanted),
                total_bytes=report.total_bytes,
                usable_bytes=report.usable_bytes,
            )
            for report in context.broker.replica_manager.logs.directories()
        ]
    )


def _topics(
    context: RequestContext,
    report: DirectoryReport,
    wanted: set[tuple[str, int]] | None,
) -> list[DescribeLogDirsTopic]:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for topic_partition, log in (*report.logs.items(), *report.futures.items()):
        topic, index = topic_partition
        if wanted is not None and (topic, index) not in wanted:
            continue
        partition = context.broker.replica_manager.get(topic_partition)
        behind = 0
        if partition is not None:
            goal = partition.log.log_end_offset if log.is_future else partition.high_watermark
            behind = goal - log.log_end_offset
        topics.setdefault(topic, DescribeLogDirsTopic(name=topic)).partitions.append(
            DescribeLogDirsPartition(
                partition_index=index,
                partition_size=log.size_bytes,
                offset_lag=max(0, behind),
                is_future_key=log.is_future,
            )
        )
    return list(topics.values())
