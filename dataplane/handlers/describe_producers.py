"""DescribeProducers (61), version 0: what partitions remember of their producers.

Behaviour: needs Read on the topic; any replica answers: clients ask the leader, or the broker whose
transactions they look through. A producer is there until its expiration; that of an open
transaction for as long as it is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: DescribeProducersRequest
) -> DescribeProducersResponse:
    response = DescribeProducersResponse()
    for topic in request.topics:
        allowed = context.authorize(AclOperation.READ, ResourceType.TOPIC, topic.name)
        partitions = [
            _describe(context, TopicPartition(topic.name, index))
            if allowed
            else PartitionResponse(
                partition_index=index, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED
            )
            for index in topic.partition_indexes
        ]
        response.topics.append(TopicResponse(name=topic.name, partitions=partitions))
    return response


def _describe(context: RequestContext, key: TopicPartition) -> PartitionResponse:
    try:
        partition = context.broker.replica_manager.hosted(key)
        if partition.log.has_failed:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    except KafkaError as refusal:
        return PartitionResponse(partition_index=key.partition, error_code=refusal.code)
    return PartitionResponse(
        partition_index=key.partition,
        error_code=ErrorCode.NONE,
        active_producers=[
            ProducerState(
                producer_id=entry.producer_id,
                producer_epoch=entry.epoch,
                last_sequence=entry.last_sequence,
                last_timestamp=entry.last_timestamp_ms,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=entry.transaction_first_offset,
            )
            for _producer_id, entry in sorted(partition.log.producers.entries.items())
        ],
    )
