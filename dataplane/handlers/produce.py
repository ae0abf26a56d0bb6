"""Produce (0), versions 0-11.

Behaviour: needs Write on each topic, and on the transactional id whose transaction the batches are
part of; without one they may not be of any. A partition's first batch of a transaction is written
once the transaction coordinator has it among the transaction's (KIP-890). Exactly one v2 batch per
partition; its offsets and leader epoch are patched in place in the connection's buffer, then it is
written once. acks=0 is not answered, and an error closes the connection; acks=1 answers after the
append; acks=-1 is refused below min.insync.replicas and else waits for the high watermark. A
timeout says REQUEST_TIMED_OUT: the outcome is unknown, not failed.
Version notes: 0-2 carry message sets of the formats before the batch, which become one batch of
magic 2 (`old_produce`); 3 and later carry batches alone; 7 allows zstd, 8 has error messages per
partition and says which records of a batch are at fault (KIP-467; at most 1,000 of them), 9 is
flexible, 10 hints at the new leader (KIP-951), 11 is the same on the wire, and has
TRANSACTION_ABORTABLE for a partition that the transaction lacks (before: INVALID_TXN_STATE).
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.cluster.topic_names import INTERNAL_TOPICS
from dataplane.handlers import leader_hints, old_produce
from dataplane.handlers.produce_route import ProduceRoute
from dataplane.handlers.verified_produce import check, verify_then
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.timing.purgatory import DelayedOperation
from dataplane.wire.apis import ApiKey
from dataplane.wire.errors import WireError
from dataplane.wire.produce_codec import (
    ProducedPartition,
    encode_produce_response,
    parse_produce,
    position_of_single,
    records_of_single,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.handlers.verified_produce import Checked

_log = logging.getLogger(__name__)
_PRODUCE = int(ApiKey.PRODUCE)

_ACKS = frozenset((-1, 0, 1))
ZSTD = 4
ZSTD_FROM = 7
BATCHES_FROM = 3
ATTRIBUTES_LOW_BYTE_AT = 22  # the codec is in its lowest three bits

# One topic of an answer: its name, the outcome of each partition.
_Topic = tuple[str, list[ProducedPartition]]
# A batch: topic, place of its result in the topic, partition, the offset behind it.
_Staged = tuple[_Topic, int, "Partition", int]


def handle_frame(
    context: RequestContext,
    frame: memoryview,
    position: int,
    checked: Checked | None = None,
) -> Any:
    """`checked`: what was found when the transaction coordinator was asked about this request."""
    header = context.header
    version = header.api_version
    transactional_id, acks, timeout_ms, asked = parse_produce(version, frame, position)
    refused = None
    if acks not in _ACKS or transactional_id is not None:
        refused = _refused_whole(context, acks, transactional_id)
    origin = "client"
    if transactional_id is not None:
        origin = "transaction"
        if refused is None and checked is None:
            checked, writes = check(context, transactional_id, asked, _refused_topic)
            if writes is not None:
                again = partial(_once_verified, context, position, checked)
                fail = partial(_failed, context, position)
                return verify_then(context, writes, frame, again, fail, acks=acks)
            refused = checked.whole
    topics: list[_Topic] = []
    staged: list[_Staged] = []
    failed = False
    for name, partitions in asked:
        results: list[ProducedPartition] = []
        topic = (name, results)
        topics.append(topic)
        if checked is None:
            denied = refused or _refused_topic(context, name)
        else:
            denied = refused or checked.topics[name]
        for index, records in partitions:
            here = denied
            if checked is not None and denied is None:
                here = checked.partitions.get(TopicPartition(name, index))
            result = _stage(context, topic, index, records, acks, here, staged, origin)
            if result.error_code:
                failed = True
            results.append(result)
    if (
        acks == 1
        and len(staged) == 1
        and len(asked) == 1
        and len(asked[0][1]) == 1
        and transactional_id is None
    ):
        _note_route(context, frame, position, staged[0][2].topic_partition, asked[0][1][0][1])
    return ProduceAnswer(context, topics, staged, acks, timeout_ms, failed)


def _once_verified(
    context: RequestContext,
    position: int,
    checked: Checked,
    frame: memoryview,
    unverified: dict[TopicPartition, ErrorCode],
) -> Any:
    return handle_frame(context, frame, position, checked._replace(partitions=unverified))


def _failed(context: RequestContext, position: int, frame: memoryview) -> Any:
    """The answer to a request that could not be worked on."""
    asked = parse_produce(context.header.api_version, frame, position)[3]
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    topics = [
        (name, [ProducedPartition(index, code) for index, _ in parts]) for name, parts in asked
    ]
    return _answer(context, topics, failed=True)


def _note_route(
    context: RequestContext,
    frame: memoryview,
    position: int,
    partition: TopicPartition,
    records: memoryview | None,
) -> None:
    """Keep how a request went whose partition is that of the one before: more will follow."""
    connection = context.connection
    version = context.header.api_version
    connection.produce_route = None
    if context.metering is not None:
        return  # a route counts nothing
    if connection.last_produced != partition or version < ZSTD_FROM or records is None:
        connection.last_produced = partition
        return
    end = position_of_single(version, len(frame), len(records))
    if records_of_single(version, frame, end) is None or not _ends(version, frame, position):
        return
    connection.produce_route = ProduceRoute(context, frame, end, partition)


def _ends(version: int, frame: memoryview, position: int) -> bool:
    """Whether a request that was read leaves nothing of its frame: `end` above goes by that."""
    try:
        parse_produce(version, frame[:-1], position)
    except WireError:
        return True
    return False


def _stage(  # noqa: PLR0917 - called once per batch: keywords cost a tenth of a microsecond each
    context: RequestContext,
    topic: _Topic,
    index: int,
    records: memoryview | bytearray | None,
    acks: int,
    denied: ErrorCode | None,
    staged: list[_Staged],
    origin: str,
) -> ProducedPartition:
    """Stage one batch, which is added to `staged`: what is answered if it can be written."""
    broker = context.broker
    try:
        if denied is not None:
            raise KafkaError(denied)
        if records is None or not records:
            raise KafkaError(ErrorCode.INVALID_RECORD, "the request holds no batch")
        replica_manager = broker.replica_manager
        partition = replica_manager.leader(TopicPartition(topic[0], index))
        if context.header.api_version < ZSTD_FROM:
            records = _of_older_version(context, partition, records)
        replica_manager.appends.partitions[partition] = None  # a refusal has to be committed too
        info = partition.stage(records, acks, origin=origin)
    except KafkaError as error:
        broker.metrics.count_refused_batch(error.code.name)
        return _refusal(context, topic[0], index, error)
    except OSError:
        _log.exception("appending to %s-%d", topic[0], index)
        return ProducedPartition(index, ErrorCode.KAFKA_STORAGE_ERROR)
    staged.append((topic, len(topic[1]), partition, info.last_offset + 1))
    broker.metrics.bytes_in.value += len(records)
    return ProducedPartition(
        index, 0, info.base_offset, info.log_append_time_ms, info.log_start_offset
    )


class ProduceAnswer(StagedAnswer):
    """The answer to a Produce whose batches are staged."""

    __slots__ = ("_acks", "_context", "_failed", "_staged", "_timeout_ms", "_topics")

    def __init__(  # noqa: PLR0917 - made once per request: keywords cost a tenth of a microsecond
        self,
        context: RequestContext,
        topics: list[_Topic],
        staged: list[_Staged],
        acks: int,
        timeout_ms: int,
        failed: bool,
    ) -> None:
        self.timing = None
        self._context = context
        self._topics = topics
        self._staged = staged
        self._acks = acks
        self._timeout_ms = timeout_ms
        self._failed = failed

    def finish(self) -> Any:
        """Answer, now or once the replicas have it. CloseConnection says no to acks=0."""
        context = self._context
        appends = context.broker.replica_manager.appends
        if appends.partitions:
            appends.commit()
        pending = None
        for item in self._staged:
            log = item[2].log
            if item[3] > log.log_end_offset:
                self.refuse(item, appends.refusal_of(item[2]))
            elif item[3] > log.high_watermark and self._acks == -1:
                pending = [*(pending or ()), item]
        if self._acks == 0:
            if self._failed:
                raise CloseConnection("a Produce with acks=0 failed; its producer learns it so")
            return None
        if pending is None:
            return _answer(context, self._topics, failed=self._failed)
        waiting = _DelayedProduce(context, self._topics, pending)
        if not waiting.done:
            context.broker.replica_manager.produce_purgatory.add(waiting, max(0, self._timeout_ms))
        return waiting.deferred

    def refuse(self, item: _Staged, error: KafkaError) -> None:
        (name, results), place, _partition, _end = item
        context = self._context
        context.broker.metrics.count_refused_batch(error.code.name)
        results[place] = _refusal(context, name, results[place].partition, error)
        self._failed = True


class _DelayedProduce(DelayedOperation):
    """An answer that waits for the high watermark of its partitions.

    Completes when (A) each partition has its offset committed, or (B) has lost its leadership
    here, or (C) the deadline has passed: what is open then is REQUEST_TIMED_OUT.
    """

    __slots__ = ("_context", "_open", "_topics", "deferred")

    def __init__(
        self, context: RequestContext, topics: list[_Topic], pending: list[_Staged]
    ) -> None:
        super().__init__()
        self._context = context
        self._topics = topics
        # By identity: a request may name a topic twice.
        self._open: dict[int, _Staged] = {id(item): item for item in pending}
        self.deferred: Deferred[list[Any]] = Deferred(pipelined=_PRODUCE)
        for item in pending:
            _topic, _place, partition, offset = item
            if partition.when_committed(offset, _Settle(self, item)):
                self.settle(item, is_committed=True)

    def settle(self, item: _Staged, *, is_committed: bool) -> None:
        topic, place, partition, _offset = item
        if self.done or self._open.pop(id(item), None) is None:
            return
        if not is_committed:
            self._set_error(topic, place, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        elif partition.is_under_min_isr():
            self._set_error(topic, place, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
        if not self._open:
            self.try_complete()

    def try_complete(self) -> None:
        if not self._open and self.end():
            self._complete()

    def expire(self) -> None:
        for topic, place, _partition, _offset in self._open.values():
            self._set_error(topic, place, ErrorCode.REQUEST_TIMED_OUT)
        self._complete()

    def _set_error(self, topic: _Topic, place: int, code: ErrorCode) -> None:
        name, results = topic
        results[place] = _refusal(self._context, name, results[place].partition, KafkaError(code))

    def _complete(self) -> None:
        failed = any(result.error_code for _, results in self._topics for result in results)
        self.deferred.complete(_answer(self._context, self._topics, failed=failed))


class _Settle:
    """A partition's callback into one waiting answer."""

    __slots__ = ("_item", "_waiting")

    def __init__(self, waiting: _DelayedProduce, item: _Staged) -> None:
        self._waiting = waiting
        self._item = item

    def __call__(self, is_committed: bool) -> None:
        self._waiting.settle(self._item, is_committed=is_committed)


def _refused_whole(
    context: RequestContext, acks: int, transactional_id: str | None
) -> ErrorCode | None:
    if acks not in _ACKS:
        return ErrorCode.INVALID_REQUIRED_ACKS
    if transactional_id is not None and not context.authorize(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
    ):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return None


def _refused_topic(context: RequestContext, name: str) -> ErrorCode | None:
    if not context.authorize(AclOperation.WRITE, ResourceType.TOPIC, name):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if name in INTERNAL_TOPICS:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return None


def _of_older_version(
    context: RequestContext, partition: Partition, records: memoryview | bytearray
) -> memoryview | bytearray:
    """What versions before 7 send: no zstd, and before 3 perhaps no batch. KafkaError."""
    if context.header.api_version < BATCHES_FROM:
        max_bytes = partition.log.config.max_message_bytes
        return old_produce.converted(records, max_bytes, context.broker.metrics)
    if _codec(records) == ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return records


def _codec(records: memoryview | bytearray) -> int:
    return records[ATTRIBUTES_LOW_BYTE_AT] & 7 if len(records) > ATTRIBUTES_LOW_BYTE_AT else 0


def _refusal(
    context: RequestContext, topic: str, index: int, error: KafkaError
) -> ProducedPartition:
    leader = None
    if error.code in leader_hints.HINTED:
        leader = leader_hints.current_leader(context, topic, index)
    return ProducedPartition(
        index,
        error.code,
        error_message=error.message,
        record_errors=error.record_errors,
        current_leader=leader,
    )


def _answer(context: RequestContext, topics: list[_Topic], *, failed: bool) -> list[Any]:
    header = context.header
    hints = (
        leader_hints.endpoints(
            context, (r.current_leader for _, results in topics for r in results)
        )
        if failed and header.api_version >= 10
        else ()
    )
    return [
        encode_produce_response(
            header.api_version,
            header.correlation_id,
            topics,
            throttle_time_ms=context.throttle_time_ms,
            node_endpoints=hints,
        )
    ]
