"""What the parts of one shard share: durable state, live groups, deadlines, clock, entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.store import ConsumerGroups
from dataplane.groups.coordinator_timer import CoordinatorTimer
from dataplane.groups.durable import DurableState
from dataplane.groups.group import ClassicGroup
from dataplane.groups.requests import UNKNOWN_MEMBER_ID
from dataplane.groups.states import GroupState
from dataplane.groups.tally import GroupTally
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.groups.member import Member
    from dataplane.groups.settings import ConsumerTimings, GroupSettings
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy

DeadlineKey = tuple[str, ...]


def session_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("session", group_id, member_id)


def pending_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("pending", group_id, member_id)


def join_key(group_id: str) -> DeadlineKey:
    return ("join", group_id)


def sync_key(group_id: str) -> DeadlineKey:
    return ("sync", group_id)


_GROUP_WRITE_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
_OFFSET_WRITE_ERRORS = _GROUP_WRITE_ERRORS | {
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}


def group_write_error(error: ErrorCode) -> ErrorCode:
    """The log's refusal, in words that a group member understands."""
    return _GROUP_WRITE_ERRORS.get(error, error)


def offset_write_error(error: ErrorCode) -> ErrorCode:
    """The log's refusal, in words that somebody who commits offsets understands."""
    return _OFFSET_WRITE_ERRORS.get(error, error)


class ShardCore:
    """State of the groups that one offsets partition owns.

    `timings_of` says what a consumer group has now; it is asked each time.
    """

    def __init__(
        self,
        settings: GroupSettings,
        clock: Clock,
        entropy: Entropy,
        timings_of: Callable[[str], ConsumerTimings] | None = None,
        tally: GroupTally | None = None,
    ) -> None:
        self.settings = settings
        self.tally = tally or GroupTally()
        self.timings_of = timings_of or (lambda _group_id: settings.consumer_timings)
        self.clock = clock
        self.entropy = entropy
        self.durable = DurableState()
        self.groups: dict[str, ClassicGroup] = {}
        self.consumer_groups = ConsumerGroups(self.durable.consumer_groups)
        self.deadlines: CoordinatorTimer[DeadlineKey] = CoordinatorTimer()

    def find(self, group_id: str) -> ClassicGroup | None:
        return self.groups.get(group_id)

    def find_or_create(self, group_id: str) -> ClassicGroup:
        group = self.groups.get(group_id)
        if group is None:
            group = ClassicGroup(group_id, now_ms=self.clock.realtime_ms())
            self.groups[group_id] = group
        return group

    def restore(self, group_id: str) -> ClassicGroup | None:
        """Put a group back as the durable state has it; None when nothing of it is stored."""
        if group_id in self.durable.consumer_groups:
            return None
        value = self.durable.groups.get(group_id)
        now_ms = self.clock.realtime_ms()
        if value is not None:
            self.groups[group_id] = ClassicGroup.from_value(group_id, value, now_ms=now_ms)
        elif group_id in self.durable.offsets:
            self.groups[group_id] = ClassicGroup(group_id, now_ms=now_ms)
        return self.groups.get(group_id)

    def forget_if_blank(self, group: ClassicGroup) -> None:
        """Drop an empty group that has left no trace in the log: ids handed out and never used."""
        if (
            group.state is GroupState.EMPTY
            and not group.pending_members
            and group.generation == 0
            and group.group_id not in self.durable.offsets
            and group.group_id not in self.durable.groups
        ):
            self.groups.pop(group.group_id, None)

    def new_member_id(self, client_id: str, group_instance_id: str | None) -> str:
        """`<client id or instance id>-<uuid>`, as clients expect it in logs and tools."""
        return f"{group_instance_id or client_id}-{self.entropy.uuid4()}"

    def touch(self, group: ClassicGroup, member: Member) -> None:
        """Hearing from a member restarts its session timeout."""
        self._extend(group, member, member.session_timeout_ms)

    def await_new_member(self, group: ClassicGroup, member: Member, timeout_ms: int) -> None:
        self._extend(group, member, timeout_ms)

    def _extend(self, group: ClassicGroup, member: Member, timeout_ms: int) -> None:
        due_ms = self.clock.monotonic_ms() + timeout_ms
        self.deadlines.set(session_key(group.group_id, member.member_id), due_ms)

    def check_member(
        self, group: ClassicGroup, member_id: str, group_instance_id: str | None
    ) -> ErrorCode:
        """Whether the caller is the member it claims to be (KIP-345)."""
        if group_instance_id is not None:
            current = group.static_members.get(group_instance_id)
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        if member_id == UNKNOWN_MEMBER_ID or member_id not in group.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE
