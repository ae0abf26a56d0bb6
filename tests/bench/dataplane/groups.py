"""Members of consumer groups as clients of the classic protocol: join, sync, heartbeat, commit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.messages.heartbeat import HeartbeatRequest
from dataplane.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from dataplane.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.bench.dataplane.asking import check, patiently

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.dataplane.asking import Connection

SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "1000",  # so that the first join is one rebalance
    "group.max.session.timeout.ms": "1800000",
}
SESSION_TIMEOUT_MS = 300_000  # nobody beats while a figure does something else
METADATA = b"\0\1" + b"\0\0\0\1" + b"\0\6orders" + b"\xff\xff\xff\xff"
ASSIGNMENT = b"\0\1" + b"\0\0\0\1" + b"\0\6orders" + b"\0\0\0\1\0\0\0\7" + b"\xff\xff\xff\xff"


class Member(NamedTuple):
    group_id: str
    member_id: str
    generation: int


def commit(group_id: str, partitions: Sequence[int], offset: int = 7) -> OffsetCommitRequest:
    """Of a consumer that assigns partitions to itself."""
    places = [
        OffsetCommitRequestPartition(
            partition_index=number, committed_offset=offset, committed_metadata=""
        )
        for number in partitions
    ]
    return OffsetCommitRequest(
        group_id=group_id,
        member_id="",
        topics=[OffsetCommitRequestTopic(name="orders", partitions=places)],
    )


def heartbeat(member: Member) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=member.group_id, generation_id=member.generation, member_id=member.member_id
    )


async def rebalance(
    lanes: Sequence[Connection], group_id: str, known: Sequence[Member] = ()
) -> list[Member]:
    """Everybody joins, on a connection each; the leader assigns; all have their assignment.

    `known` are members since an earlier generation: they join again under their names.
    """
    names = [member.member_id for member in known]
    names += [""] * (len(lanes) - len(names))
    return await asyncio.gather(
        *(_join(lane, group_id, name) for lane, name in zip(lanes, names, strict=True))
    )


async def _join(lane: Connection, group_id: str, member_id: str) -> Member:
    joined = await patiently(
        lane,
        JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=SESSION_TIMEOUT_MS,
            member_id=member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=METADATA)],
        ),
    )
    assigned = [
        SyncGroupRequestAssignment(member_id=each.member_id, assignment=ASSIGNMENT)
        for each in joined.members
    ]
    synced = await lane.ask(
        SyncGroupRequest(
            group_id=group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            assignments=assigned,
        )
    )
    check(synced.error_code, "SyncGroup")
    if bytes(synced.assignment) != ASSIGNMENT:
        check(-1, "an assignment is another one")
    return Member(group_id, joined.member_id, joined.generation_id)
