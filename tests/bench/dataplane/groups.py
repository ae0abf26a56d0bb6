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
TOPIC = "orders"
REBALANCE_IN_PROGRESS = 27
METADATA = b"\0\1" + b"\0\0\0\1" + b"\0\6orders" + b"\xff\xff\xff\xff"
ASSIGNMENT = b"\0\1" + b"\0\0\0\1" + b"\0\6orders" + b"\0\0\0\1\0\0\0\7" + b"\xff\xff\xff\xff"


class Member(NamedTuple):
    group_id: str
    member_id: str
    generation: int


def alone(group_id: str) -> Member:
    """A consumer that assigns partitions to itself."""
    return Member(group_id, "", -1)


def commit(member: Member, partitions: Sequence[int], offset: int = 7) -> OffsetCommitRequest:
    places = [
        OffsetCommitRequestPartition(
            partition_index=number, committed_offset=offset, committed_metadata=""
        )
        for number in partitions
    ]
    return OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.generation,
        member_id=member.member_id,
        topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=places)],
    )


def heartbeat(member: Member) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=member.group_id, generation_id=member.generation, member_id=member.member_id
    )


async def rebalance(lanes: Sequence[Connection], group_id: str) -> list[Member]:
    """A new group: everybody joins, on a connection each, and has its assignment."""
    return await asyncio.gather(*(_join(lane, group_id, "") for lane in lanes))


async def join_one_more(lanes: Sequence[Connection], known: Sequence[Member]) -> list[Member]:
    """A newcomer on the last connection; the others join again once they may hear of it.

    Before, the group is stable and answers them with the generation that they have.
    """
    group_id = known[0].group_id
    newcomer = asyncio.create_task(_join(lanes[-1], group_id, ""))
    while (await lanes[0].ask(heartbeat(known[0]))).error_code != REBALANCE_IN_PROGRESS:
        await asyncio.sleep(0)
    again = (
        _join(lane, group_id, member.member_id)
        for lane, member in zip(lanes[:-1], known, strict=True)
    )
    return await asyncio.gather(*again, newcomer)


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
