"""DescribeTopicPartitions (75), version 0: topics and their partitions, page by page (KIP-966).

Behaviour: topics by name in alphabetical order, all of them if none is named; no more partitions
than the request wants and `max.request.partition.size.limit` allows, at least one; the cursor of
an answer asks for what comes next. A topic that may not be described is an error when it is named,
and left out of "all". Kafka serves this API with KRaft alone; Java's admin client prefers it to
Metadata wherever it is offered.
Skipped: eligible leader replicas, which ZooKeeper does not keep: none, because Java's Admin client
does not take null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import INTERNAL_TOPICS
from dataplane.handlers.authorized_operations import authorized_operations
from dataplane.handlers.metadata import partitions_of
from dataplane.handlers.turns import in_turns
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.cluster.image import TopicImage


async def handle(
    context: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    if cursor is not None and cursor.partition_index < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "the cursor's partition may not be negative")
    topics = context.broker.metadata_cache.image.topics
    wants_all = not request.topics
    named = set(topics) if wants_all else {topic.name for topic in request.topics}
    first = "" if cursor is None else cursor.topic_name
    response = DescribeTopicPartitionsResponse()
    left = _partitions_max(context, request)
    async for name in in_turns(sorted(name for name in named if name >= first)):
        if not context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, name):
            if not wants_all:
                response.topics.append(_refused(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            continue
        topic = topics.get(name)
        if topic is None:
            response.topics.append(_refused(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            continue
        if not left:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        begin = cursor.partition_index if cursor is not None and name == first else 0
        described = _described(context, topic, begin, left)
        response.topics.append(described)
        left -= len(described.partitions)
        end = begin + len(described.partitions)
        if end < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=end)
            break
    return response


def _partitions_max(context: RequestContext, request: DescribeTopicPartitionsRequest) -> int:
    allowed = context.broker.configs.broker_config.get_int("max.request.partition.size.limit")
    return max(1, min(allowed, request.response_partition_limit))


def _refused(name: str, code: ErrorCode) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, is_internal=name in INTERNAL_TOPICS
    )


def _described(
    context: RequestContext, topic: TopicImage, begin: int, count: int
) -> DescribeTopicPartitionsResponseTopic:
    """Up to `count` partitions from index `begin` on."""
    states = sorted(partitions_of(context, topic), key=lambda item: item[1].index)
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        topic_authorized_operations=authorized_operations(context, ResourceType.TOPIC, topic.name),
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                error_code=code,
                partition_index=state.index,
                leader_id=state.leader,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                offline_replicas=list(state.offline_replicas),
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for code, state in states[begin : begin + count]
        ],
    )
