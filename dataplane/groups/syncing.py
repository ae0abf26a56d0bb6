"""SyncGroup: the leader hands in the assignment, everyone gets their part once it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import group_write_error
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import group_record
from dataplane.groups.requests import SyncResult
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.consumer.classic_members import ClassicMembers
    from dataplane.groups.core import ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.member import Member
    from dataplane.groups.outcome import Ticket
    from dataplane.groups.rebalance import Rebalancer
    from dataplane.groups.requests import SyncRequest


class Syncing:
    """Decides about one SyncGroup; followers wait for the leader's."""

    def __init__(
        self, core: ShardCore, rebalancer: Rebalancer, classic_members: ClassicMembers
    ) -> None:
        self._core = core
        self._rebalancer = rebalancer
        self._classic_members = classic_members

    def sync(self, request: SyncRequest, ticket: Ticket) -> Outcome:
        """The reply is a `SyncResult`."""
        out = Outcome()
        consumers = self._core.consumer_groups.find(request.group_id)
        group = self._core.find(request.group_id)
        if group is None and consumers is not None:
            self._classic_members.sync(consumers, request, ticket, out)
            return out
        error = ErrorCode.UNKNOWN_MEMBER_ID if group is None else self._check(group, request)
        if group is None or error is not ErrorCode.NONE:
            out.reply(ticket, SyncResult(error=error))
            return out
        member = group.members[request.member_id]
        self._rebalancer.synced(group, member.member_id)
        if group.state is GroupState.STABLE:
            out.reply(ticket, self._result(group, member))
            return out
        stale = SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS)
        self._rebalancer.answer_sync(member, stale, out)
        member.sync_ticket = ticket
        if group.leader == member.member_id:
            self._store(group, request, out)
        return out

    def _check(self, group: ClassicGroup, request: SyncRequest) -> ErrorCode:
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        error = self._core.check_member(group, request.member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            return error
        if request.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        wrong_type = request.protocol_type not in (None, group.protocol_type)
        wrong_name = request.protocol_name not in (None, group.protocol_name)
        if wrong_type or wrong_name:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if group.state is GroupState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def _store(self, group: ClassicGroup, request: SyncRequest, out: Outcome) -> None:
        """Write the generation with its assignment; members left out by the leader get none."""
        generation = group.generation
        assignments = {
            member_id: request.assignments.get(member_id, b"") for member_id in group.members
        }

        def stored(error: ErrorCode) -> Outcome:
            done = Outcome()
            # Another member may have joined meanwhile: then this assignment is void.
            current = self._core.find(group.group_id) is group and group.generation == generation
            if not current or group.state is not GroupState.COMPLETING_REBALANCE:
                return done
            if error is ErrorCode.NONE:
                self._become_stable(group, assignments, done)
            else:
                self._rebalancer.drop_assignment(group, group_write_error(error), done)
                self._rebalancer.maybe_prepare(group, done)
            return done

        out.write([group_record(group.group_id, group.to_value(assignments))], stored)

    def _become_stable(
        self, group: ClassicGroup, assignments: dict[str, bytes], out: Outcome
    ) -> None:
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        group.move_to(GroupState.STABLE, now_ms=self._core.clock.realtime_ms())
        self._core.tally.completed_rebalances += 1
        for member in group.members.values():
            if member.sync_ticket is not None:
                self._rebalancer.answer_sync(member, self._result(group, member), out)
                self._core.touch(group, member)

    def _result(self, group: ClassicGroup, member: Member) -> SyncResult:
        return SyncResult(
            error=ErrorCode.NONE,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            assignment=member.assignment,
        )
