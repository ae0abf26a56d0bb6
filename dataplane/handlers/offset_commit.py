"""OffsetCommit (8), versions 0-9: store how far a group has consumed.

Behaviour: needs Read on the group and on each topic; an unknown topic gets
UNKNOWN_TOPIC_OR_PARTITION. Answered once the records are committed by the in-sync replicas.
Version notes: 0 names no member: it is stored as of a consumer that is alone; Kafka keeps it in
ZooKeeper, where nothing but version 0 sees it. 1 has a time for each offset, 2-4 carry a retention
time, stored as explicit expiry; 6 leader epochs; 7 static members.
9 the generation is the member epoch in a consumer group (KIP-848), whose members need this version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import CommitRequest, OffsetToCommit
from dataplane.handlers.group_access import require_group, topic_errors
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    require_group(context, AclOperation.READ, request.group_id)
    names = {topic.name for topic in request.topics}
    refused = topic_errors(context, AclOperation.READ, names, must_exist=True)
    errors: dict[TopicPartition, ErrorCode] = {}
    offsets: dict[TopicPartition, OffsetToCommit] = {}
    for topic in request.topics:
        for asked in topic.partitions:
            partition = TopicPartition(topic.name, asked.partition_index)
            if topic.name in refused:
                errors[partition] = refused[topic.name]
            elif not _exists(context, partition):
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                offsets[partition] = OffsetToCommit(
                    offset=asked.committed_offset,
                    leader_epoch=asked.committed_leader_epoch,
                    metadata=asked.committed_metadata or "",
                    retention_ms=request.retention_time_ms,
                    commit_timestamp_ms=asked.commit_timestamp,
                )
    if offsets:
        errors |= await context.broker.group_coordinator.commit(
            CommitRequest(
                group_id=request.group_id,
                member_id=request.member_id,
                group_instance_id=request.group_instance_id,
                generation=request.generation_id_or_member_epoch,
                offsets=offsets,
                has_member_epoch=context.header.api_version >= 9,
            )
        )
    return _response(request, errors)


def _exists(context: RequestContext, partition: TopicPartition) -> bool:
    topic = context.broker.metadata_cache.image.topics[partition.topic]
    return 0 <= partition.partition < len(topic.partitions)


def _response(
    request: OffsetCommitRequest, errors: dict[TopicPartition, ErrorCode]
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=errors[TopicPartition(topic.name, asked.partition_index)],
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
