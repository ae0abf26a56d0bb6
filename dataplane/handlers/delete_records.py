"""DeleteRecords (21), versions 0-2: move the log start of partitions up.

Behaviour: needs Delete on the topic; -1 means the high watermark. An offset above the high
watermark is OFFSET_OUT_OF_RANGE. Compacted topics refuse (POLICY_VIOLATION). Followers learn the
new log start with their next fetch.
Skipped: waiting until every follower has followed; the leader's own log start is what clients see.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

_log = logging.getLogger(__name__)

HIGH_WATERMARK = -1
INVALID_LOW_WATERMARK = -1


async def handle(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    response = DeleteRecordsResponse()
    for topic in request.topics:
        answer = DeleteRecordsTopicResult(name=topic.name)
        for wanted in topic.partitions:
            result = DeleteRecordsPartitionResult(
                partition_index=wanted.partition_index, low_watermark=INVALID_LOW_WATERMARK
            )
            try:
                result.low_watermark = _delete(
                    context, TopicPartition(topic.name, wanted.partition_index), wanted.offset
                )
            except KafkaError as error:
                result.error_code = error.code
            except OSError:
                _log.exception("deleting records of %s-%d", topic.name, wanted.partition_index)
                result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
            answer.partitions.append(result)
        response.topics.append(answer)
    return response


def _delete(context: RequestContext, topic_partition: TopicPartition, offset: int) -> int:
    if not context.authorize(AclOperation.DELETE, ResourceType.TOPIC, topic_partition.topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    services = context.services
    log = services.partitions.leader(topic_partition).log
    policies = services.configs.topic_config(topic_partition.topic).get_list("cleanup.policy")
    if "delete" not in policies:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "the topic is compacted, not deleted")
    target = log.high_watermark if offset == HIGH_WATERMARK else offset
    if target < 0 or target > log.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    log.delete_records_before(target)
    return int(log.log_start_offset)
