"""Fetches that look like the one before: one partition outside a session, read by a consumer.

Such a consumer sends them one after the other, and they differ in correlation id and offset alone.
What the first ones took to be read, resolved and answered is kept for the others. Whatever is out
of the ordinary, or has to be waited for, is left to `handlers/fetch.py`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from dataplane.log.opening import NEVER_CLEANED
from dataplane.model.errors import KafkaError
from dataplane.replication.fetch_sessions import FINAL_EPOCH
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.fetch_codec import FetchedPartition, SingleFetchAnswer

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.wire.fetch_codec import FetchedFrom, FetchParts

ROUTES_FROM = 7
READ_COMMITTED = 1

_READ, _TOPIC = AclOperation.READ, ResourceType.TOPIC  # looking them up each time is slow
_OFFSET = struct.Struct(">q")
_CORRELATION_ID = struct.Struct(">i")


class FetchRoute:
    """What the fetches of one connection read, and how they are answered."""

    __slots__ = (
        "_answer",
        "_context",
        "_head",
        "_is_committed_only",
        "_leader_epoch",
        "_limit",
        "_middle",
        "_min_bytes",
        "_offset_at",
        "_partition",
        "_rest",
        "_topic_id",
    )

    def __init__(
        self,
        context: RequestContext,
        frame: memoryview,
        offset_at: int,
        request: FetchParts,
        partition: Partition,
    ) -> None:
        ((key, (wanted,)),) = request.topics
        self._context = context
        self._partition = partition.topic_partition
        self._topic_id = partition.topic_id
        self._leader_epoch = wanted.current_leader_epoch
        bytes_max = min(request.max_bytes, context.broker.replica_manager.fetch_bytes_max)
        self._limit = max(0, min(bytes_max, wanted.max_bytes))
        self._min_bytes = max(1, request.min_bytes)
        self._is_committed_only = request.isolation_level == READ_COMMITTED
        aborted = () if self._is_committed_only else None
        answered = FetchedPartition(wanted.partition, aborted=aborted)
        self._answer = SingleFetchAnswer(context.header.api_version, key, answered)
        # The frame in pieces: before the correlation id, up to the offset, behind it.
        self._offset_at = offset_at
        self._head = bytes(frame[:4])
        self._middle = bytes(frame[8:offset_at])
        self._rest = bytes(frame[offset_at + _OFFSET.size :])

    def fits(self, frame: memoryview, partition: Partition) -> bool:
        """Whether this is the route of such a request that reads `partition`."""
        at = self._offset_at
        return (
            frame[8:at] == self._middle
            and frame[at + 8 :] == self._rest
            and frame[:4] == self._head
            and partition.topic_id is self._topic_id
        )

    def answer(self, frame: memoryview) -> list[Any] | None:
        """The answer to a fetch like the last one; None if it is not, or not to be had at once."""
        at = self._offset_at
        if frame[8:at] != self._middle or frame[at + 8 :] != self._rest or frame[:4] != self._head:
            return None
        context = self._context
        broker = context.broker
        appends = broker.replica_manager.appends
        if appends.partitions:
            appends.commit()  # the Produces before it on this connection
        if broker.authorizer.is_enabled and not context.authorize(
            _READ, _TOPIC, self._partition.topic
        ):
            return None
        (offset,) = _OFFSET.unpack_from(frame, at)
        try:
            partition = broker.replica_manager.leader(self._partition)
            partition.check_epoch(self._leader_epoch)
            log = partition.log
            stable, high_watermark = log.last_stable_offset, log.high_watermark
            bound = stable if self._is_committed_only else high_watermark
            if (
                not log.log_start_offset <= offset < bound
                or log.cleaned_until != NEVER_CLEANED
                # Aborted transactions have to be named.
                or (self._is_committed_only and offset <= log.last_aborted_offset)
                or partition.topic_id is not self._topic_id  # created once more under its name
            ):
                return None
            memory = broker.replica_manager.read_memory
            records = log.read(offset, self._limit, bound, memory=memory)
        except (KafkaError, OSError):
            return None
        if records.size < self._min_bytes:
            return None
        broker.metrics.bytes_out.value += records.size
        return self._answer.encode(
            _CORRELATION_ID.unpack_from(frame, 4)[0],
            high_watermark,
            stable,
            log.log_start_offset,
            records,
        )


def note(
    context: RequestContext, frame: memoryview, request: FetchParts, partition: Partition | None
) -> None:
    """Keep what a consumer reads that reads the partition of its last fetch: more will follow."""
    connection = context.connection
    route = connection.fetch_route
    if (
        route is not None
        and partition is not None
        and context.metering is None
        and route.fits(frame, partition)
    ):
        return  # it had to wait this time, or the like
    connection.fetch_route = None
    if (
        partition is None
        or context.metering is not None  # a route counts nothing
        or not partition.is_leader
        or request.session_epoch != FINAL_EPOCH
        or request.session_id
        or request.replica_id >= 0
        or context.header.api_version < ROUTES_FROM
        or context.broker.replica_manager.read_replicas.is_active
        or [len(wanted) for _key, wanted in request.topics] != [1]  # others may be empty
    ):
        connection.last_fetched = None
        return
    wanted = request.topics[0][1][0]
    limit = min(request.max_bytes, wanted.max_bytes, context.broker.replica_manager.fetch_bytes_max)
    if (
        connection.last_fetched != partition.topic_partition
        or wanted.last_fetched_epoch >= 0
        or request.min_bytes > max(1, limit // 2)  # whole batches within the limit may be less
    ):
        connection.last_fetched = partition.topic_partition
        return
    offset_at = _offset_position(frame, wanted)
    if offset_at >= 0:
        connection.fetch_route = FetchRoute(context, frame, offset_at, request, partition)


def _offset_position(frame: memoryview, wanted: FetchedFrom) -> int:
    """Where the fetch offset stands in the frame; -1 if its bytes do not stand there just once."""
    whole, offset = bytes(frame), _OFFSET.pack(wanted.fetch_offset)
    at = whole.find(offset)
    return at if whole.find(offset, at + 1) < 0 else -1
