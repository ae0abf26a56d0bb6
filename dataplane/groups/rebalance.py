"""Rebalances: when one begins, when its join phase is over, who is dropped for being late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import join_key, session_key, sync_key
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import group_record
from dataplane.groups.requests import UNKNOWN_MEMBER_ID, JoinResult, SyncResult
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.core import ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.member import Member


class Rebalancer:
    """Moves groups through the join phase. Every method adds to the outcome it is given."""

    def __init__(self, core: ShardCore) -> None:
        self._core = core

    def maybe_prepare(self, group: ClassicGroup, out: Outcome) -> None:
        """Begin a rebalance, unless one is being prepared already."""
        if group.can_rebalance:
            self.prepare(group, out)

    def prepare(self, group: ClassicGroup, out: Outcome) -> None:
        """Begin a rebalance: members learn of it from heartbeats and have to join again.

        The first rebalance of an empty group waits `group.initial.rebalance.delay.ms` for company.
        """
        core = self._core
        if group.state is GroupState.COMPLETING_REBALANCE:
            self.drop_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS, out)
        core.deadlines.cancel(sync_key(group.group_id))
        if group.state is GroupState.EMPTY:
            delay_ms = core.settings.initial_rebalance_delay_ms
            group.initial_delay_left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            group.new_member_added = False
        else:
            delay_ms = group.rebalance_timeout_ms
            group.initial_delay_left_ms = None
        group.move_to(GroupState.PREPARING_REBALANCE, now_ms=core.clock.realtime_ms())
        self._arm_join(group, delay_ms)
        self.try_complete(group, out)

    def try_complete(self, group: ClassicGroup, out: Outcome) -> None:
        """End the join phase at once when everybody is here; the first one always waits."""
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and group.initial_delay_left_ms is None
            and group.all_joined
        ):
            self._complete(group, out)

    def on_join_deadline(self, group: ClassicGroup, out: Outcome) -> None:
        """The time to join is up; a first rebalance is extended while new members turn up."""
        if group.state is not GroupState.PREPARING_REBALANCE:
            return
        left_ms = group.initial_delay_left_ms
        if left_ms is not None and left_ms > 0 and group.new_member_added:
            group.new_member_added = False
            delay_ms = min(self._core.settings.initial_rebalance_delay_ms, left_ms)
            group.initial_delay_left_ms = left_ms - delay_ms
            self._arm_join(group, delay_ms)
            return
        self._complete(group, out)

    def on_sync_deadline(self, group: ClassicGroup, out: Outcome) -> None:
        """Members that joined but never asked for their assignment are removed."""
        if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
            return
        if not group.pending_sync:
            return
        gone = JoinResult(error=ErrorCode.UNKNOWN_MEMBER_ID, member_id=UNKNOWN_MEMBER_ID)
        for member_id in sorted(group.pending_sync):
            # Who takes a static member's place may wait for that to be stored.
            if member_id in group.members:
                self.answer_join(group, group.members[member_id], gone, out)
            self.forget_member(group, member_id)
        self.maybe_prepare(group, out)

    def synced(self, group: ClassicGroup, member_id: str) -> None:
        """A member has asked for its assignment; the sync deadline ends with the last of them."""
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            self._core.deadlines.cancel(sync_key(group.group_id))

    def remove_member(self, group: ClassicGroup, member: Member, out: Outcome) -> None:
        """A member left or fell silent: the others rebalance without it."""
        self.answer_join(
            group,
            member,
            JoinResult(error=ErrorCode.UNKNOWN_MEMBER_ID, member_id=UNKNOWN_MEMBER_ID),
            out,
        )
        self.answer_sync(member, SyncResult(error=ErrorCode.UNKNOWN_MEMBER_ID), out)
        self.forget_member(group, member.member_id)
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self.maybe_prepare(group, out)
        elif group.state is GroupState.PREPARING_REBALANCE:
            self.try_complete(group, out)

    def forget_member(self, group: ClassicGroup, member_id: str) -> None:
        group.remove_member(member_id)
        self._core.deadlines.cancel(session_key(group.group_id, member_id))

    def answer_join(
        self, group: ClassicGroup, member: Member, result: JoinResult, out: Outcome
    ) -> None:
        ticket = group.take_join_ticket(member)
        if ticket is not None:
            out.reply(ticket, result)

    def answer_sync(self, member: Member, result: SyncResult, out: Outcome) -> None:
        if member.sync_ticket is not None:
            out.reply(member.sync_ticket, result)
            member.sync_ticket = None

    def drop_assignment(self, group: ClassicGroup, error: ErrorCode, out: Outcome) -> None:
        """Answer everyone who waits for an assignment with `error`."""
        for member in group.members.values():
            member.assignment = b""
            if member.sync_ticket is not None:
                self.answer_sync(member, SyncResult(error=error), out)
                self._core.touch(group, member)

    def join_result(self, group: ClassicGroup, member: Member) -> JoinResult:
        """The current generation, as `member` may see it: only the leader gets the others."""
        is_leader = group.leader == member.member_id
        return JoinResult(
            error=ErrorCode.NONE,
            member_id=member.member_id,
            generation=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            leader=group.leader or UNKNOWN_MEMBER_ID,
            members=group.joined_members() if is_leader else (),
        )

    def _arm_join(self, group: ClassicGroup, delay_ms: int) -> None:
        due_ms = self._core.clock.monotonic_ms() + delay_ms
        self._core.deadlines.set(join_key(group.group_id), due_ms)

    def _complete(self, group: ClassicGroup, out: Outcome) -> None:
        core = self._core
        core.deadlines.cancel(join_key(group.group_id))
        late = [
            member.member_id
            for member in group.members.values()
            if member.join_ticket is None and not member.is_static
        ]
        for member_id in late:
            self.forget_member(group, member_id)
        if group.members and not group.elect_joined_leader():
            # Only static members are left and none is back yet: their sessions decide.
            group.initial_delay_left_ms = None
            self._arm_join(group, group.rebalance_timeout_ms)
            return
        group.start_generation(now_ms=core.clock.realtime_ms())
        if group.state is GroupState.EMPTY:
            self._store_empty(group, out)
            return
        for member in group.members.values():
            self.answer_join(group, member, self.join_result(group, member), out)
            core.touch(group, member)
            member.is_new = False
            group.pending_sync.add(member.member_id)
        due_ms = core.clock.monotonic_ms() + group.rebalance_timeout_ms
        core.deadlines.set(sync_key(group.group_id), due_ms)

    def _store_empty(self, group: ClassicGroup, out: Outcome) -> None:
        """Remember when the group became empty: its offsets expire from then on.

        A failure is harmless: whoever loads the group next gives its last members a session's time.
        """
        value = group.to_value({})
        out.write([group_record(group.group_id, value)], lambda _error: Outcome())
