"""What handlers ask of the coordinator and what it answers, apart from any wire version."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from dataplane.groups.records import NO_LEADER_EPOCH, NO_TIMESTAMP
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition

UNKNOWN_MEMBER_ID = ""
NO_GENERATION = -1
NO_OFFSET = -1

CLASSIC = "classic"
CONSUMER = "consumer"
"""The kinds of groups, by the names that ListGroups shows."""


class Protocol(NamedTuple):
    """One way of assigning work that a member supports, with its own metadata."""

    name: str
    metadata: bytes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """`require_known_member_id`: JoinGroup v4+, first join gets an id and must come again.
    `skip_assignment_supported`: JoinGroup v9+.
    """

    group_id: str
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    require_known_member_id: bool
    skip_assignment_supported: bool = False

    @property
    def must_come_again(self) -> bool:
        """KIP-394: the member has to come back with the id that it is handed out."""
        is_new = self.member_id == UNKNOWN_MEMBER_ID and self.group_instance_id is None
        return is_new and self.require_known_member_id


class JoinedMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JoinResult:
    error: ErrorCode
    member_id: str
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = UNKNOWN_MEMBER_ID
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    group_id: str
    member_id: str
    group_instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: dict[str, bytes]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class LeavingMember(NamedTuple):
    member_id: str
    group_instance_id: str | None


class LeftMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    error: ErrorCode


class OffsetToCommit(NamedTuple):
    """`commit_timestamp_ms` and `expire_timestamp_ms` are only set by old clients."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp_ms: int = NO_TIMESTAMP
    retention_ms: int = -1


class CommitRequest(NamedTuple):
    """`generation` is the member's epoch in a consumer group, for which the request must be of a
    version that has one (OffsetCommit v9+: `has_member_epoch`).
    """

    group_id: str
    member_id: str
    group_instance_id: str | None
    generation: int
    offsets: dict[TopicPartition, OffsetToCommit]
    has_member_epoch: bool = True

    @property
    def names_nobody(self) -> bool:
        """Whether it does not say which member commits."""
        says_id = self.member_id != UNKNOWN_MEMBER_ID or self.group_instance_id is not None
        return self.generation < 0 and not says_id

    def split(
        self, metadata_max_bytes: int
    ) -> tuple[dict[TopicPartition, ErrorCode], dict[TopicPartition, OffsetToCommit]]:
        """What is refused for its metadata's size, and what is left."""
        refused = {}
        for partition, asked in self.offsets.items():
            if asked.metadata and len(asked.metadata.encode()) > metadata_max_bytes:
                refused[partition] = ErrorCode.OFFSET_METADATA_TOO_LARGE
        if not refused:
            return refused, self.offsets
        left = {
            partition: asked
            for partition, asked in self.offsets.items()
            if partition not in refused
        }
        return refused, left


class CommittedOffset(NamedTuple):
    """What OffsetFetch answers for a partition; offset -1 when nothing was committed."""

    offset: int = NO_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


class MemberDescription(NamedTuple):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    group_id: str
    error: ErrorCode = ErrorCode.NONE
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[MemberDescription, ...] = ()


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    kind: str
