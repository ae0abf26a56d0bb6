"""ListOffsets (2), versions 0-9: offsets by timestamp, or by a special name.

Behaviour: needs Describe on the topic. Timestamps: -1 latest (the last stable offset under
read_committed, else the high watermark; a replica asks for the log end), -2 earliest, -3 the record
with the largest timestamp (KIP-734), -4 earliest local (the same as earliest without tiering),
-5 latest tiered (none). Nothing found: offset and timestamp -1.
Version notes: 0 answers up to so many offsets, the newest first: where the segments up to a time
begin, and for -1 the end before them; 2 isolation level, 4 leader epoch (fencing and answer), 7 -3,
8 -4, 9 -5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.turns import in_turns
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.integers import INT64_MAX
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
READ_COMMITTED = 1
DEBUGGING_CONSUMER = -2


async def handle(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    response = ListOffsetsResponse()
    find = _find_before if context.header.api_version == 0 else _find
    async for topic in in_turns(request.topics):
        allowed = context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name)
        answer = ListOffsetsTopicResponse(name=topic.name)
        async for wanted in in_turns(topic.partitions):
            try:
                if not allowed:
                    raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                found = find(context, topic.name, wanted, request)
            except KafkaError as error:
                found = ListOffsetsPartitionResponse(error_code=error.code)
            found.partition_index = wanted.partition_index
            answer.partitions.append(found)
        response.topics.append(answer)
    return response


def _find(
    context: RequestContext, topic: str, wanted: ListOffsetsPartition, request: ListOffsetsRequest
) -> ListOffsetsPartitionResponse:
    partition = _partition(context, topic, wanted, request)
    partition.check_epoch(wanted.current_leader_epoch)
    end = _readable_end(partition, request)
    log = partition.log
    timestamp, offset, epoch = -1, -1, partition.leader_epoch
    if wanted.timestamp == LATEST:
        offset = end
    elif wanted.timestamp in (EARLIEST, EARLIEST_LOCAL):
        offset = log.log_start_offset
        epoch = log.epoch_at(offset)
    elif wanted.timestamp == LATEST_TIERED:
        epoch = -1
    else:
        if wanted.timestamp == MAX_TIMESTAMP:
            match = log.max_timestamp_offset()
        else:
            match = log.offset_for_timestamp(wanted.timestamp)
        if match is not None and match[0] < end:
            offset, timestamp, epoch = match
        else:
            epoch = -1
    return ListOffsetsPartitionResponse(timestamp=timestamp, offset=offset, leader_epoch=epoch)


def _find_before(
    context: RequestContext, topic: str, wanted: ListOffsetsPartition, request: ListOffsetsRequest
) -> ListOffsetsPartitionResponse:
    """Version 0. No more offsets than there are segments, whatever is asked for."""
    partition = _partition(context, topic, wanted, request)
    end, log = _readable_end(partition, request), partition.log
    if wanted.timestamp == EARLIEST:
        offsets = [log.log_start_offset]
    elif wanted.timestamp == LATEST:
        begins = [offset for offset in log.segments_before(INT64_MAX) if offset < end]
        offsets = [end, *begins]
    else:
        offsets = [offset for offset in log.segments_before(wanted.timestamp) if offset <= end]
    return ListOffsetsPartitionResponse(old_style_offsets=offsets[: max(0, wanted.max_num_offsets)])


def _partition(
    context: RequestContext, topic: str, wanted: ListOffsetsPartition, request: ListOffsetsRequest
) -> Partition:
    topic_partition = TopicPartition(topic, wanted.partition_index)
    replica_manager = context.broker.replica_manager
    if request.replica_id == DEBUGGING_CONSUMER:
        return replica_manager.hosted(topic_partition)
    return replica_manager.leader(topic_partition)


def _readable_end(partition: Partition, request: ListOffsetsRequest) -> int:
    if request.replica_id >= 0:
        return partition.log.log_end_offset
    if request.isolation_level == READ_COMMITTED:
        return partition.log.last_stable_offset
    return partition.log.high_watermark
