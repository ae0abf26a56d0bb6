"""OffsetCommit requests that are like the one before but for their offsets and leader epochs.

A consumer commits the same partitions over and over. What its last request took to be read and
answered is kept for those that follow; what may change between them is looked at each time, and
anything out of the ordinary is left to `handlers/offset_commit.py`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from dataplane.groups.requests import CommitRequest, OffsetToCommit
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.offset_commit_codec import encode_offset_commit_response, offset_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.broker.context import RequestContext
    from dataplane.cluster.image import TopicImage
    from dataplane.wire.messages.offset_commit import (
        OffsetCommitRequest,
        OffsetCommitRequestTopic,
    )

ROUTE_BYTES_MAX = 16 * 1024
"""Of a request that is kept, for each connection."""
WORTH_COMMITS = 4
"""A route that has served fewer was not worth its making: its connection gets no other."""
NO_MORE = -1
EPOCHS_FROM = 9
"""Of this version on the generation may be a member's epoch (KIP-848)."""
_LEADER_EPOCH_FROM = 6
_READ, _TOPIC = AclOperation.READ, ResourceType.TOPIC
_ANSWER = struct.Struct(">ii")
_Offsets = dict[TopicPartition, OffsetToCommit]


class CommitRoute:
    """How a connection's last OffsetCommit was read, and what it is answered if all is well.

    `_fixed` are the bytes between the offsets, with their places in the frame.
    """

    __slots__ = (
        "_all_well",
        "_answer",
        "_fixed",
        "_metadata",
        "_names",
        "_partitions",
        "_position",
        "_size",
        "_topics",
        "_unpack",
        "_version",
        "commits",
        "request",
    )

    def __init__(
        self,
        context: RequestContext,
        frame: memoryview,
        request: OffsetCommitRequest,
        places: list[int],
    ) -> None:
        """`places`: where in the frame the offsets are. Every partition asked for exists."""
        version = self._version = context.header.api_version
        self.commits = 0
        self.request = request
        self._position = context.header.body_position
        self._size = len(frame)
        self._topics = context.broker.metadata_cache.image.topics
        self._names = sorted({topic.name for topic in request.topics})
        asked = [(topic.name, each) for topic in request.topics for each in topic.partitions]
        self._partitions = [TopicPartition(name, each.partition_index) for name, each in asked]
        self._metadata = [each.committed_metadata or "" for _name, each in asked]
        width = 12 if version >= _LEADER_EPOCH_FROM else 8
        starts = [self._position, *(place + width for place in places)]
        spans = zip(starts, [*places, self._size], strict=True)
        self._fixed = [(start, end, bytes(frame[start:end])) for start, end in spans]
        gaps = [start - end for start, end in zip(places, [0, *starts[1:-1]], strict=True)]
        item = "qi" if version >= _LEADER_EPOCH_FROM else "q"
        self._unpack = struct.Struct(">" + "".join(f"{gap}x{item}" for gap in gaps)).unpack_from
        self._all_well = dict.fromkeys(self._partitions, ErrorCode.NONE)
        answered = [
            (topic.name, [(each.partition_index, 0) for each in topic.partitions])
            for topic in request.topics
        ]
        self._answer = bytes(encode_offset_commit_response(version, 0, answered)[_ANSWER.size :])

    def read(self, context: RequestContext, frame: memoryview) -> CommitRequest | None:
        """What such a request commits; None for any other request."""
        header = context.header
        if (
            len(frame) != self._size
            or header.body_position != self._position
            or header.api_version != self._version
            or context.broker.metadata_cache.image.topics is not self._topics
        ):
            return None
        for start, end, fixed in self._fixed:
            if frame[start:end] != fixed:
                return None
        if context.broker.authorizer.is_enabled and not all(
            context.sees(_READ, _TOPIC, name) for name in self._names
        ):
            return None
        self.commits += 1
        request = self.request
        return CommitRequest(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            self._offsets(frame),
            self._version >= EPOCHS_FROM,
        )

    def _offsets(self, frame: memoryview) -> _Offsets:
        numbers = self._unpack(frame)
        retention_ms = self.request.retention_time_ms
        if self._version < _LEADER_EPOCH_FROM:
            return {
                partition: OffsetToCommit(offset, -1, metadata, -1, retention_ms)
                for partition, metadata, offset in zip(
                    self._partitions, self._metadata, numbers, strict=True
                )
            }
        return {
            partition: OffsetToCommit(offset, epoch, metadata)
            for partition, metadata, offset, epoch in zip(
                self._partitions, self._metadata, numbers[::2], numbers[1::2], strict=True
            )
        }

    def answer(
        self, context: RequestContext, errors: dict[TopicPartition, ErrorCode]
    ) -> bytes | None:
        """The frame of the answer; None if it is not the ordinary one."""
        if errors != self._all_well or context.throttle_time_ms:
            return None
        answer = self._answer
        return _ANSWER.pack(len(answer) + 4, context.header.correlation_id) + answer


def note_route(context: RequestContext, frame: memoryview, request: OffsetCommitRequest) -> None:
    """Keep how a request is read that is as long as the one before: more will follow."""
    connection = context.connection
    route: Any = connection.commit_route
    last_size = connection.last_commit_size
    if last_size == NO_MORE:
        return
    if route is not None and route.commits < WORTH_COMMITS:
        connection.commit_route = None
        connection.last_commit_size = NO_MORE
        return
    connection.commit_route = None
    connection.last_commit_size = len(frame)
    if last_size != len(frame) or len(frame) > ROUTE_BYTES_MAX:
        return
    topics = context.broker.metadata_cache.image.topics
    if not all(_exist(topics, topic) for topic in request.topics):
        return
    header = context.header
    places = offset_places(header.api_version, frame, header.body_position, request)
    if places:
        connection.commit_route = CommitRoute(context, frame, request, places)


def _exist(topics: Mapping[str, TopicImage], asked: OffsetCommitRequestTopic) -> bool:
    """Whether there are all the partitions that a request names."""
    topic = topics.get(asked.name)
    count = 0 if topic is None else len(topic.partitions)
    return all(0 <= each.partition_index < count for each in asked.partitions)
