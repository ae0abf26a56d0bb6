"""OffsetFetch (9), versions 0-9: read what groups have committed.

Behaviour: needs Describe on the group and on each topic. A group or partition without a committed
offset is answered with offset -1 and no error. Asked for all topics, those that the caller may not
describe are left out.
Version notes: 0 reads the same offsets (Kafka has those of version 0 in ZooKeeper), and what is not
committed is UNKNOWN_TOPIC_OR_PARTITION there; null topics (all) from 2, and a top-level error; 5
leader epochs; 7 require_stable (UNSTABLE_OFFSET_COMMIT while a transaction may change it; answered
when ZooKeeper still names this broker the leader, so that nobody processes again what was committed
with a successor); 8 many groups; 9 member id and epoch, which must be right in a consumer group
(KIP-848).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeVar

from dataplane.groups.requests import CommittedOffset
from dataplane.handlers.group_access import require_group, topic_errors
from dataplane.handlers.turns import in_turns
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.context import RequestContext

ByTopic = dict[str, dict[int, CommittedOffset]]
TopicT = TypeVar("TopicT")


async def handle(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    doubts: dict[str, ErrorCode] = {}
    if request.require_stable:
        asked = {group.group_id for group in request.groups} or {request.group_id}
        doubts = await context.broker.group_coordinator.doubts(asked)
    if context.header.api_version >= 8:
        groups = []
        async for group in in_turns(request.groups):
            wanted = (
                None
                if group.topics is None
                else [(topic.name, topic.partition_indexes) for topic in group.topics]
            )
            doubt = doubts.get(group.group_id)
            groups.append(_answer_group(context, group, wanted, request.require_stable, doubt))
        return OffsetFetchResponse(groups=groups)
    wanted = (
        None
        if request.topics is None
        else [(topic.name, topic.partition_indexes) for topic in request.topics]
    )
    doubt = doubts.get(request.group_id)
    return _answer_one(context, request.group_id, wanted, request.require_stable, doubt)


def _answer_group(
    context: RequestContext,
    group: OffsetFetchRequestGroup,
    wanted: list[tuple[str, list[int]]] | None,
    require_stable: bool,
    doubt: ErrorCode | None,
) -> OffsetFetchResponseGroup:
    try:
        require_group(context, AclOperation.DESCRIBE, group.group_id)
        _refuse(doubt)
        context.broker.group_coordinator.check_fetch(
            group.group_id, group.member_id, group.member_epoch
        )
        found = _fetch(context, group.group_id, wanted, require_stable)
    except KafkaError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
    return OffsetFetchResponseGroup(
        group_id=group.group_id,
        topics=_rows(found, OffsetFetchResponseTopics, OffsetFetchResponsePartitions),
    )


def _answer_one(
    context: RequestContext,
    group_id: str,
    wanted: list[tuple[str, list[int]]] | None,
    require_stable: bool,
    doubt: ErrorCode | None,
) -> OffsetFetchResponse:
    error = ErrorCode.NONE
    try:
        require_group(context, AclOperation.DESCRIBE, group_id)
        _refuse(doubt)
        found = _fetch(context, group_id, wanted, require_stable)
    except KafkaError as refused:
        error = refused.code
        found = {}
        if context.header.api_version < 2:  # no place for a top-level error
            failed = CommittedOffset(error=error)
            found = {name: dict.fromkeys(indexes, failed) for name, indexes in wanted or []}
    if context.header.api_version == 0:
        found = {name: _known(partitions) for name, partitions in found.items()}
    return OffsetFetchResponse(
        error_code=error,
        topics=_rows(found, OffsetFetchResponseTopic, OffsetFetchResponsePartition),
    )


def _refuse(doubt: ErrorCode | None) -> None:
    if doubt is not None:
        raise KafkaError(doubt)


def _known(partitions: dict[int, CommittedOffset]) -> dict[int, CommittedOffset]:
    """What is not committed is an error in version 0."""
    unknown = CommittedOffset(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return {
        index: unknown if committed.offset < 0 and not committed.error else committed
        for index, committed in partitions.items()
    }


def _rows(
    found: ByTopic, topic: Callable[..., TopicT], partition: Callable[..., object]
) -> list[TopicT]:
    """The same fields have one name in the answer for one group and another in that for many."""
    return [
        topic(
            name=name,
            partitions=[
                partition(
                    partition_index=index,
                    committed_offset=committed.offset,
                    committed_leader_epoch=committed.leader_epoch,
                    metadata=committed.metadata,
                    error_code=committed.error,
                )
                for index, committed in partitions.items()
            ],
        )
        for name, partitions in found.items()
    ]


def _fetch(
    context: RequestContext,
    group_id: str,
    wanted: list[tuple[str, list[int]]] | None,
    require_stable: bool,
) -> ByTopic:
    """KafkaError when the group as a whole cannot be answered for."""
    require_group(context, AclOperation.DESCRIBE, group_id)
    group_coordinator = context.broker.group_coordinator
    if wanted is None:
        everything = group_coordinator.fetch_offsets(group_id, None, require_stable=require_stable)
        names = {partition.topic for partition in everything}
        seen = {n for n in names if context.sees(AclOperation.DESCRIBE, ResourceType.TOPIC, n)}
        shown: ByTopic = {name: {} for name in sorted(seen)}
        return _grouped(everything, shown)
    refused = topic_errors(
        context, AclOperation.DESCRIBE, {name for name, _ in wanted}, must_exist=False
    )
    allowed = [
        TopicPartition(name, index)
        for name, indexes in wanted
        if name not in refused
        for index in indexes
    ]
    found: ByTopic = {name: {} for name, _ in wanted}
    for name, indexes in wanted:
        if name in refused:
            found[name].update(dict.fromkeys(indexes, CommittedOffset(error=refused[name])))
    fetched = group_coordinator.fetch_offsets(group_id, allowed, require_stable=require_stable)
    return _grouped(fetched, found)


def _grouped(offsets: dict[TopicPartition, CommittedOffset], into: ByTopic) -> ByTopic:
    by_topic = itertools.groupby(sorted(offsets.items()), key=lambda item: item[0].topic)
    for name, items in by_topic:
        if name in into:
            into[name].update((partition.partition, committed) for partition, committed in items)
    return into
