"""DeleteRecords (21), versions 0-2: move the log start of partitions up.

Behaviour: needs Delete on the topic; -1 means the high watermark. An offset above the high
watermark is OFFSET_OUT_OF_RANGE. Topics that are only compacted refuse (POLICY_VIOLATION).
The answer waits until every live follower has moved its own log start, which it learns with its
next fetch; after `timeout_ms` without that it is REQUEST_TIMED_OUT, though the records are gone.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Coroutine, Sequence

    from dataplane.broker.context import RequestContext
    from dataplane.broker.partition import Partition

_log = logging.getLogger(__name__)

HIGH_WATERMARK = -1
INVALID_LOW_WATERMARK = -1


async def handle(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    response = DeleteRecordsResponse()
    waits = []
    for topic in request.topics:
        answer = DeleteRecordsTopicResult(name=topic.name)
        for wanted in topic.partitions:
            result = DeleteRecordsPartitionResult(
                partition_index=wanted.partition_index, low_watermark=INVALID_LOW_WATERMARK
            )
            answer.partitions.append(result)
            topic_partition = TopicPartition(topic.name, wanted.partition_index)
            try:
                partition, start = _delete(context, topic_partition, wanted.offset)
                waits.append(_await_followers(context, partition, start, result))
            except KafkaError as error:
                result.error_code = error.code
            except OSError:
                _log.exception("deleting records of %s", topic_partition)
                result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        response.topics.append(answer)
    await _all_within(waits, request.timeout_ms / 1000)
    return response


def _delete(
    context: RequestContext, topic_partition: TopicPartition, offset: int
) -> tuple[Partition, int]:
    """Move the log start of the replica that leads here; the partition and where it starts now."""
    if not context.authorize(AclOperation.DELETE, ResourceType.TOPIC, topic_partition.topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    services = context.services
    partition = services.partitions.leader(topic_partition)
    log = partition.log
    policies = services.configs.topic_config(topic_partition.topic).get_list("cleanup.policy")
    if "delete" not in policies:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "the topic is compacted, not deleted")
    target = log.high_watermark if offset == HIGH_WATERMARK else offset
    if target < 0 or target > log.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    log.delete_records_before(target)
    return partition, int(target)


async def _await_followers(
    context: RequestContext, partition: Partition, start: int, result: DeleteRecordsPartitionResult
) -> None:
    """Fill `result` in once the replicas that live have followed."""
    result.error_code = ErrorCode.REQUEST_TIMED_OUT  # until it turns out otherwise
    moved = asyncio.Event()
    unwatch = partition.watch_log_starts(moved.set)
    try:
        while True:
            if not partition.is_leader:
                result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                return
            low = partition.low_watermark(context.services.metadata.image.brokers)
            if low >= start:
                result.error_code, result.low_watermark = ErrorCode.NONE, low
                return
            moved.clear()
            await moved.wait()
    finally:
        unwatch()


async def _all_within(waits: Sequence[Coroutine[Any, Any, None]], timeout_s: float) -> None:
    if not waits:
        return
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        _done, late = await asyncio.wait(tasks, timeout=max(0.0, timeout_s))
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    for task in late:
        task.cancel()
