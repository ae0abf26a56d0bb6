"""OffsetForLeaderEpoch (23), versions 0-4: where an epoch ends in the leader's log (KIP-101).

Behaviour: needs Describe on the topic from clients (replica id -1 or -2), ClusterAction from
replicas. Answers the largest epoch not above the asked one, with its end offset; -1 and -1 when the
log knows none.
Version notes: 1 answers the epoch, 2 fences by the current leader epoch, 3 carries the replica id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    is_replica = request.replica_id >= 0 and context.sees(
        AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    )
    response = OffsetForLeaderEpochResponse()
    for topic in request.topics:
        allowed = is_replica or context.authorize(
            AclOperation.DESCRIBE, ResourceType.TOPIC, topic.topic
        )
        answer = OffsetForLeaderTopicResult(topic=topic.topic)
        for wanted in topic.partitions:
            found = EpochEndOffset(partition=wanted.partition)
            try:
                if not allowed:
                    raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                partition = context.broker.replica_manager.leader(
                    TopicPartition(topic.topic, wanted.partition)
                )
                partition.check_epoch(wanted.current_leader_epoch)
                found.leader_epoch, found.end_offset = partition.log.end_offset_for_epoch(
                    wanted.leader_epoch
                )
            except KafkaError as error:
                found.error_code = error.code
            answer.partitions.append(found)
        response.topics.append(answer)
    return response
