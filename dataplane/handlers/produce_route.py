"""Produce requests that look like the one before: one batch, for the same partition.

A producer sends thousands of them over one connection, which differ in correlation id and batch
alone. What the first ones took to be read, resolved and answered is kept for the others. Anything
out of the ordinary, a refusal included, is left to `handlers/produce.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.model.errors import KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.produce_codec import (
    ProducedPartition,
    SingleAnswer,
    encode_produce_response,
    records_of_single,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.log.reading.log_slice import AppendInfo
    from dataplane.model.ids import TopicPartition

RUN_MAX = 512
"""Requests that are answered together. One write may hold the batches of several such runs."""

_CORRELATION_ID = slice(4, 8)
_WRITE, _TOPIC = AclOperation.WRITE, ResourceType.TOPIC  # looking them up each time is slow


class ProduceRoute:
    """Where the Produces of one connection go, and how they are answered (acks=1 only).

    `head` and `middle` are the bytes of the frame before and behind its correlation id, up to the
    length of the records at `end`.
    """

    __slots__ = (
        "_context",
        "_end",
        "_head",
        "_middle",
        "_partition",
        "_version",
        "answer",
        "run",
    )

    def __init__(
        self, context: RequestContext, frame: memoryview, end: int, partition: TopicPartition
    ) -> None:
        self._context = context
        self._version = context.header.api_version
        self._head = bytes(frame[: _CORRELATION_ID.start])
        self._middle = bytes(frame[_CORRELATION_ID.stop : end])
        self._end = end
        self._partition = partition
        self.answer = SingleAnswer(self._version, partition.topic, partition.partition)
        self.run: ProduceRun | None = None

    def stage(self, frame: memoryview) -> ProduceRun | None:
        """Stage the batch of a request like the last one; None if it is not, or is refused."""
        if frame[8 : self._end] != self._middle or frame[:4] != self._head:
            return None
        context = self._context
        records = records_of_single(self._version, frame, self._end)
        if records is None or (
            context.broker.authorizer.is_enabled
            and not context.authorize(_WRITE, _TOPIC, self._partition.topic)
        ):
            return None
        replica_manager = context.broker.replica_manager
        try:
            partition = replica_manager.leader(self._partition)
            # A refusal has to be committed too.
            replica_manager.appends.partitions[partition] = None
            info = partition.stage(records, 1)
        except (KafkaError, OSError):
            return None
        context.broker.metrics.bytes_in.value += len(records)
        run = self.run
        if run is None or run.partition is not partition or len(run.batches) >= RUN_MAX:
            run = self.run = ProduceRun(self, partition)
        run.batches.append((int.from_bytes(frame[_CORRELATION_ID], "big", signed=True), info))
        return run

    def finish(self, run: ProduceRun) -> list[Any]:
        """The answers of a run, as one part."""
        if self.run is run:
            self.run = None
        appends = self._context.broker.replica_manager.appends
        if appends.partitions:
            appends.commit()
        end, answer = run.partition.log.log_end_offset, self.answer
        return [
            b"".join(
                [
                    answer.encode(correlation_id, info[0], info[2], info[3])
                    if info[1] < end
                    else self._refusal(run.partition, correlation_id)
                    for correlation_id, info in run.batches
                ]
            )
        ]

    def _refusal(self, partition: Partition, correlation_id: int) -> bytes | bytearray:
        broker = self._context.broker
        error = broker.replica_manager.appends.refusal_of(partition)
        broker.metrics.count_refused_batch(error.code.name)
        name, index = self._partition
        refused = ProducedPartition(index, error.code, error_message=error.message)
        return encode_produce_response(self._version, correlation_id, [(name, [refused])])


class ProduceRun(StagedAnswer):
    """Produces that came one behind the other by one route."""

    __slots__ = ("batches", "partition", "route")

    def __init__(self, route: ProduceRoute, partition: Partition) -> None:
        self.timing = None
        self.route = route
        self.partition = partition
        self.batches: list[tuple[int, AppendInfo]] = []  # correlation id, where it was staged

    def finish(self) -> list[Any]:
        return self.route.finish(self)
