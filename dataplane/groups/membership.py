"""Heartbeats, leaving, and the deadlines of members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import pending_key
from dataplane.groups.outcome import Outcome
from dataplane.groups.requests import UNKNOWN_MEMBER_ID, LeftMember
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.consumer.classic_members import ClassicMembers
    from dataplane.groups.core import DeadlineKey, ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.rebalance import Rebalancer
    from dataplane.groups.requests import LeavingMember


class Membership:
    """Who is still there."""

    def __init__(
        self, core: ShardCore, rebalancer: Rebalancer, classic_members: ClassicMembers
    ) -> None:
        self._core = core
        self._rebalancer = rebalancer
        self._classic_members = classic_members

    def heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        group = self._core.find(group_id)
        if group is None:
            consumers = self._core.consumer_groups.find(group_id)
            if consumers is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            return self._classic_members.heartbeat(
                consumers, member_id, group_instance_id, generation
            )
        return self._heartbeat(group, member_id, group_instance_id, generation)

    def _heartbeat(
        self, group: ClassicGroup, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self._core.check_member(group, member_id, group_instance_id)
        if error is not ErrorCode.NONE:
            return error
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self._core.touch(group, group.members[member_id])
        if group.state is GroupState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def leave(
        self, group_id: str, members: list[LeavingMember]
    ) -> tuple[Outcome, ErrorCode, list[LeftMember]]:
        """Remove members; an administrator names static ones by instance id alone."""
        out = Outcome()
        group = self._core.find(group_id)
        if group is not None and group.state is GroupState.DEAD:
            return out, ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        consumers = self._core.consumer_groups.find(group_id)
        if group is None and consumers is not None:
            return out, ErrorCode.NONE, self._classic_members.leave(consumers, members, out)
        left = []
        for leaving in members:
            if group is None:
                error = ErrorCode.UNKNOWN_MEMBER_ID
            else:
                error = self._leave_one(group, leaving, out)
            left.append(LeftMember(leaving.member_id, leaving.group_instance_id, error))
        return out, ErrorCode.NONE, left

    def _leave_one(self, group: ClassicGroup, leaving: LeavingMember, out: Outcome) -> ErrorCode:
        member_id, instance_id = leaving
        if member_id == UNKNOWN_MEMBER_ID:
            current = group.static_members.get(instance_id) if instance_id is not None else None
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            member_id = current
        elif member_id in group.pending_members:
            self._drop_pending(group, member_id, out)
            return ErrorCode.NONE
        error = self._core.check_member(group, member_id, instance_id)
        if error is ErrorCode.NONE:
            self._rebalancer.remove_member(group, group.members[member_id], out)
        return error

    def on_deadline(self, key: DeadlineKey, out: Outcome) -> None:
        """A deadline of `core.deadlines` has passed."""
        kind, group_id, *rest = key
        group = self._core.find(group_id)
        if group is None or group.state is GroupState.DEAD:
            return
        if kind == "join":
            self._rebalancer.on_join_deadline(group, out)
        elif kind == "sync":
            self._rebalancer.on_sync_deadline(group, out)
        elif kind == "pending":
            self._drop_pending(group, rest[0], out)
        elif kind == "session":
            self._on_session_deadline(group, rest[0], out)

    def _on_session_deadline(self, group: ClassicGroup, member_id: str, out: Outcome) -> None:
        """A member that waits for the coordinator cannot be late, unless it has never had an id."""
        member = group.members.get(member_id)
        if member is None:
            return
        is_waiting = member.join_ticket is not None or member.sync_ticket is not None
        if member.is_new or not is_waiting:
            self._rebalancer.remove_member(group, member, out)

    def _drop_pending(self, group: ClassicGroup, member_id: str, out: Outcome) -> None:
        if member_id not in group.pending_members:
            return
        group.remove_member(member_id)
        self._core.deadlines.cancel(pending_key(group.group_id, member_id))
        self._rebalancer.try_complete(group, out)
        self._core.forget_if_blank(group)
