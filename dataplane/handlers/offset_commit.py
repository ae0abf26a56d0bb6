"""OffsetCommit (8), versions 0-9: store how far a group has consumed.

Behaviour: needs Read on the group and on each topic; an unknown topic gets
UNKNOWN_TOPIC_OR_PARTITION. Answered once the records are committed by the in-sync replicas.
Version notes: 0 names no member: it is stored as of a consumer that is alone; Kafka keeps it in
ZooKeeper, where nothing but version 0 sees it. 1 has a time for each offset, 2-4 carry a retention
time, stored as explicit expiry; 6 leader epochs; 7 static members.
9 the generation is the member epoch in a consumer group (KIP-848), whose members need this version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.broker.delayed.deferred import Deferred
from dataplane.groups.requests import CommitRequest, OffsetToCommit
from dataplane.handlers.commit_route import EPOCHS_FROM, note_route
from dataplane.handlers.group_access import require_group, topic_errors
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.apis import ApiKey
from dataplane.wire.codec import decode
from dataplane.wire.messages.offset_commit import OffsetCommitRequest
from dataplane.wire.offset_commit_codec import encode_offset_commit_response

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.handlers.commit_route import CommitRoute


_OFFSET_COMMIT = int(ApiKey.OFFSET_COMMIT)


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    """Those behind it on its connection may begin before it is answered: they share an append."""
    route = context.connection.commit_route
    commit = None if route is None else route.read(context, frame)
    if commit is not None:
        return _commit(context, route.request, commit, route)
    request, _end = decode(OffsetCommitRequest, context.header.api_version, frame, position)
    note_route(context, frame, request)
    return _commit(context, request, None, None)


def _commit(
    context: RequestContext,
    request: OffsetCommitRequest,
    commit: CommitRequest | None,
    route: CommitRoute | None,
) -> Any:
    """`commit` is what `route` has read, if it has."""
    deferred: Deferred[list[Any]] = Deferred(pipelined=_OFFSET_COMMIT)
    errors: dict[TopicPartition, ErrorCode] = {}

    def answered(stored: dict[TopicPartition, ErrorCode], refusal: KafkaError | None) -> None:
        if refusal is not None:
            deferred.complete([_refusal(context, request, refusal)])
            return
        usual = None if route is None else route.answer(context, stored)
        deferred.complete([usual or _answer(context, request, errors | stored)])

    try:
        require_group(context, AclOperation.READ, request.group_id)
        if commit is None:
            commit = _look_at(context, request, errors)
        if not commit.offsets:
            return [_answer(context, request, errors)]
        context.broker.group_coordinator.commit(commit, answered)
    except KafkaError as error:
        return [_refusal(context, request, error)]
    return deferred


def _look_at(
    context: RequestContext, request: OffsetCommitRequest, errors: dict[TopicPartition, ErrorCode]
) -> CommitRequest:
    """What may be committed; `errors` gets why the others may not."""
    names = {topic.name for topic in request.topics}
    refused = topic_errors(context, AclOperation.READ, names, must_exist=True)
    topics = context.broker.metadata_cache.image.topics
    retention_ms = request.retention_time_ms
    offsets: dict[TopicPartition, OffsetToCommit] = {}
    for topic in request.topics:
        name = topic.name
        error = refused.get(name)
        count = 0 if error is not None else len(topics[name].partitions)
        for asked in topic.partitions:
            partition = TopicPartition(name, asked.partition_index)
            if 0 <= asked.partition_index < count:
                offsets[partition] = OffsetToCommit(
                    asked.committed_offset,
                    asked.committed_leader_epoch,
                    asked.committed_metadata or "",
                    asked.commit_timestamp,
                    retention_ms,
                )
            else:
                errors[partition] = error or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return CommitRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation=request.generation_id_or_member_epoch,
        offsets=offsets,
        has_member_epoch=context.header.api_version >= EPOCHS_FROM,
    )


def _answer(
    context: RequestContext,
    request: OffsetCommitRequest,
    errors: dict[TopicPartition, ErrorCode],
) -> bytearray:
    header = context.header
    topics = []
    for topic in request.topics:
        name = topic.name
        indexes = [asked.partition_index for asked in topic.partitions]
        topics.append((name, [(index, errors[TopicPartition(name, index)]) for index in indexes]))
    return encode_offset_commit_response(
        header.api_version,
        header.correlation_id,
        topics,
        throttle_time_ms=context.throttle_time_ms,
    )


def _refusal(context: RequestContext, request: OffsetCommitRequest, error: KafkaError) -> bytearray:
    """The same answer for all of it."""
    errors = {
        TopicPartition(topic.name, asked.partition_index): error.code
        for topic in request.topics
        for asked in topic.partitions
    }
    return _answer(context, request, errors)
