"""What handlers ask about consumer groups and what is answered, apart from any wire version."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.groups.consumer.group import ConsumerMember
    from dataplane.groups.consumer.id_partition import Assignment

NOT_SAID = -1
"""A rebalance timeout that has not changed since the last heartbeat."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerHeartbeat:
    """One ConsumerGroupHeartbeat; what is None has not changed since the last one.

    `may_describe` says whether the caller may know of a topic: a regular expression matches no
    others. `makes_its_own_id`: version 1, in which a member never leaves its id to the coordinator.
    """

    group_id: str
    member_id: str
    member_epoch: int
    client_id: str
    client_host: str
    may_describe: Callable[[str], bool]
    makes_its_own_id: bool = True
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = NOT_SAID
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: Assignment | None = None

    @property
    def is_full(self) -> bool:
        """A member that joins, or is not sure what the coordinator knows, says everything."""
        says_topics = self.topics is not None or self.regex is not None
        is_complete = self.rebalance_timeout_ms != NOT_SAID and self.owned is not None
        return self.member_epoch == 0 or (is_complete and says_topics)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerHeartbeatResult:
    """`assignment` None: as before."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


class ConsumerMemberDescription(NamedTuple):
    """A member with what it has, and what it is to have."""

    member: ConsumerMember
    target: Assignment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescription:
    group_id: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: str = ""
    epoch: int = 0
    target_epoch: int = 0
    assignor: str = ""
    members: tuple[ConsumerMemberDescription, ...] = ()
