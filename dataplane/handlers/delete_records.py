"""DeleteRecords (21), versions 0-2: move the log start of partitions up.

Behaviour: needs Delete on the topic; -1 means the high watermark. An offset above the high
watermark is OFFSET_OUT_OF_RANGE. Topics that are only compacted refuse (POLICY_VIOLATION).
The answer waits until every live follower has moved its own log start, which it learns with its
next fetch; after `timeout_ms` without that it is REQUEST_TIMED_OUT, though the records are gone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from dataplane.broker.delayed.deferred import Deferred
from dataplane.handlers.audit_entries import audit
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.timing.purgatory import DelayedOperation
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_response_frame
from dataplane.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition

_log = logging.getLogger(__name__)

HIGH_WATERMARK = -1
INVALID_LOW_WATERMARK = -1

# What waits for followers: the partition, where its log starts now, its place in the answer.
_Pending = tuple["Partition", int, DeleteRecordsPartitionResult]


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    request, _end = decode(DeleteRecordsRequest, context.header.api_version, frame, position)
    response = DeleteRecordsResponse()
    pending: list[_Pending] = []
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
                pending.append((partition, start, result))
            except KafkaError as error:
                result.error_code = error.code
            except OSError:
                _log.exception("deleting records of %s", topic_partition)
                result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        response.topics.append(answer)
    waiting = _DelayedDeleteRecords(context, request, response, pending)
    waiting.try_complete()
    if not waiting.done:
        context.broker.replica_manager.delete_records_purgatory.add(
            waiting,
            max(0, request.timeout_ms),
            [partition.watch_log_starts() for partition, _start, _result in pending],
        )
    return waiting.deferred


def _delete(
    context: RequestContext, topic_partition: TopicPartition, offset: int
) -> tuple[Partition, int]:
    """Move the log start of the replica that leads here; the partition and where it starts now."""
    if not context.authorize(AclOperation.DELETE, ResourceType.TOPIC, topic_partition.topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    broker = context.broker
    partition = broker.replica_manager.leader(topic_partition)
    log = partition.log
    policies = broker.configs.topic_config(topic_partition.topic).get_list("cleanup.policy")
    if "delete" not in policies:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "the topic is compacted, not deleted")
    target = log.high_watermark if offset == HIGH_WATERMARK else offset
    if target < 0 or target > log.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    log.delete_records_before(target)
    return partition, int(target)


class _DelayedDeleteRecords(DelayedOperation):
    """An answer that waits until the live followers start where the leaders do now.

    Completes when each partition (A) is followed, or (B) has lost its leadership here, or (C) the
    deadline has passed: what is open then is REQUEST_TIMED_OUT.
    """

    __slots__ = ("_context", "_open", "_request", "_response", "deferred")

    def __init__(
        self,
        context: RequestContext,
        request: DeleteRecordsRequest,
        response: DeleteRecordsResponse,
        pending: list[_Pending],
    ) -> None:
        super().__init__()
        self._context = context
        self._request = request
        self._response = response
        self._open = pending
        self.deferred: Deferred[list[Any]] = Deferred()
        self.deferred.on_abandoned = self._abandon

    def try_complete(self) -> None:
        self._open = [each for each in self._open if not self._is_settled(*each)]
        if not self._open and self.end():
            self._complete()

    def expire(self) -> None:
        for _partition, _start, result in self._open:
            result.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._complete()

    def _abandon(self) -> None:
        # Whoever asked has gone; the records have as well.
        if self.end():
            audit(self._context, self._request, self._response)

    def _is_settled(
        self, partition: Partition, start: int, result: DeleteRecordsPartitionResult
    ) -> bool:
        if not partition.is_leader:
            result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            return True
        low = partition.low_watermark(self._context.broker.metadata_cache.image.brokers)
        if low < start:
            return False
        result.low_watermark = low
        return True

    def _complete(self) -> None:
        audit(self._context, self._request, self._response)
        header = self._context.header
        self._response.throttle_time_ms = self._context.throttle_time_ms
        self.deferred.complete(
            [encode_response_frame(self._response, header.api_version, header.correlation_id)]
        )
