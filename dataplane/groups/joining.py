"""JoinGroup: new members, static members coming back, known members joining again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.core import group_write_error, pending_key, session_key
from dataplane.groups.member import Member
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import group_record
from dataplane.groups.requests import UNKNOWN_MEMBER_ID, JoinResult, SyncResult
from dataplane.groups.settings import NEW_MEMBER_JOIN_TIMEOUT_MS
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.consumer.parts import ConsumerParts
    from dataplane.groups.core import ShardCore
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.outcome import Ticket
    from dataplane.groups.rebalance import Rebalancer
    from dataplane.groups.requests import JoinRequest


class Joining:
    """Decides about one JoinGroup; the answer may come much later, with the next generation."""

    def __init__(self, core: ShardCore, rebalancer: Rebalancer, consumers: ConsumerParts) -> None:
        self._core = core
        self._rebalancer = rebalancer
        self._consumers = consumers

    def join(self, request: JoinRequest, ticket: Ticket) -> Outcome:
        """The reply is a `JoinResult`."""
        out = Outcome()
        settings = self._core.settings
        timeout_ms = request.session_timeout_ms
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms:
            return _refuse(out, ticket, ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id)
        group = self._core.find(request.group_id)
        consumers = self._core.consumer_groups.find(request.group_id)
        if group is None and consumers is not None and consumers.members:
            left = self._consumers.classic_members.join(consumers, request, ticket, out)
            if left is None:
                return out
            request, group = left, self._core.find(request.group_id)
        is_new = request.member_id == UNKNOWN_MEMBER_ID
        if group is None:
            if not is_new:
                return _refuse(out, ticket, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
            self._consumers.departures.end_for_classic(request.group_id, out)
            group = self._core.find_or_create(request.group_id)
        if group.state is GroupState.DEAD:
            return _refuse(out, ticket, ErrorCode.COORDINATOR_NOT_AVAILABLE, request.member_id)
        if not self._accepts_joining_member(group, request.member_id):
            self._rebalancer.forget_member(group, request.member_id)
            _refuse(out, ticket, ErrorCode.GROUP_MAX_SIZE_REACHED)
        elif not group.supports(request.protocol_type, request.protocols):
            _refuse(out, ticket, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
        elif is_new:
            self._join_new(group, request, ticket, out)
        else:
            self._join_known(group, request, ticket, out)
        self._rebalancer.try_complete(group, out)
        self._core.forget_if_blank(group)
        return out

    def _accepts_joining_member(self, group: ClassicGroup, member_id: str) -> bool:
        """Members count when they have rejoined: so a shrunk limit drops the last to come back."""
        limit = self._core.settings.max_size
        if group.state is GroupState.EMPTY:
            return True
        member = group.members.get(member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            if member is not None and member.join_ticket is not None:
                return True
            return len(group.members) < limit or group.awaiting_join_count < limit
        return member is not None or len(group.members) < limit

    def _join_new(
        self, group: ClassicGroup, request: JoinRequest, ticket: Ticket, out: Outcome
    ) -> None:
        instance_id = request.group_instance_id
        member_id = self._core.new_member_id(request.client_id, instance_id)
        if instance_id is not None and instance_id in group.static_members:
            self._replace_static(group, request, member_id, ticket, out)
        elif instance_id is None and request.require_known_member_id:
            self._hand_out_id(group, request, member_id, ticket, out)
        else:
            self._add(group, request, member_id, ticket, out)

    def _hand_out_id(
        self,
        group: ClassicGroup,
        request: JoinRequest,
        member_id: str,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        """KIP-394: the member has to come back with this id, so lost answers leave no ghosts."""
        if len(group.pending_members) >= self._core.settings.pending_members_max:
            _refuse(out, ticket, ErrorCode.GROUP_MAX_SIZE_REACHED)
            return
        group.pending_members.add(member_id)
        due_ms = self._core.clock.monotonic_ms() + request.session_timeout_ms
        self._core.deadlines.set(pending_key(group.group_id, member_id), due_ms)
        _refuse(out, ticket, ErrorCode.MEMBER_ID_REQUIRED, member_id)

    def _join_known(
        self, group: ClassicGroup, request: JoinRequest, ticket: Ticket, out: Outcome
    ) -> None:
        member_id = request.member_id
        if member_id in group.pending_members:
            self._core.deadlines.cancel(pending_key(group.group_id, member_id))
            self._add(group, request, member_id, ticket, out)
            return
        error = self._core.check_member(group, member_id, request.group_instance_id)
        if error is ErrorCode.NONE and group.state is GroupState.EMPTY:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        if error is not ErrorCode.NONE:
            _refuse(out, ticket, error, member_id)
            return
        member = group.members[member_id]
        unchanged = member.protocols == request.protocols
        # A leader that joins a stable group wants a new assignment (topics may have changed);
        # while the assignment is still being made, it has only missed the first answer.
        repeats = (group.state is GroupState.COMPLETING_REBALANCE and unchanged) or (
            group.state is GroupState.STABLE and unchanged and group.leader != member_id
        )
        if repeats:
            out.reply(ticket, self._rebalancer.join_result(group, member))
            return
        self._update(group, member, request, ticket, out)
        self._rebalancer.maybe_prepare(group, out)

    def _add(
        self,
        group: ClassicGroup,
        request: JoinRequest,
        member_id: str,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        member = Member(
            member_id=member_id,
            group_instance_id=request.group_instance_id,
            client_id=request.client_id,
            client_host=request.client_host,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            protocols=request.protocols,
            is_new=True,
        )
        if group.initial_delay_left_ms is not None and group.generation == 0:
            group.new_member_added = True
        group.add_member(member, request.protocol_type)
        group.park_join(member, ticket)
        self._core.await_new_member(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self._rebalancer.maybe_prepare(group, out)

    def _update(
        self,
        group: ClassicGroup,
        member: Member,
        request: JoinRequest,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        """Take over what the member now says about itself, and park its request."""
        # A second request of the same member means that it gave up on the first.
        stale = JoinResult(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
        self._rebalancer.answer_join(group, member, stale, out)
        group.set_protocols(member, request.protocols)
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        group.park_join(member, ticket)

    def _replace_static(
        self,
        group: ClassicGroup,
        request: JoinRequest,
        member_id: str,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        """KIP-345: an instance that restarted takes its place back under a new member id."""
        instance_id = request.group_instance_id or ""
        old_member_id = group.static_members[instance_id]
        old_leader = group.leader
        member = group.members[old_member_id]
        protocols_before = member.protocols
        timeouts_before = (member.rebalance_timeout_ms, member.session_timeout_ms)
        self._fence(group, member, out)
        self._rename(group, instance_id, member_id)
        self._update(group, member, request, ticket, out)
        self._core.touch(group, member)
        if group.state is GroupState.COMPLETING_REBALANCE:
            # The leader may be assigning to the old id: start over, or the new id gets nothing.
            self._rebalancer.prepare(group, out)
            return
        if group.state is not GroupState.STABLE:
            return
        if group.select_protocol() != group.protocol_name:
            self._rebalancer.maybe_prepare(group, out)
            return

        def stored(error: ErrorCode) -> Outcome:
            done = Outcome()
            if member.join_ticket != ticket or member.member_id != member_id:
                return done  # answered meanwhile: removed, fenced, or part of a new generation
            if error is not ErrorCode.NONE:
                group.set_protocols(member, protocols_before)
                member.rebalance_timeout_ms, member.session_timeout_ms = timeouts_before
                self._rename(group, instance_id, old_member_id)
                failed = JoinResult(error=group_write_error(error), member_id=UNKNOWN_MEMBER_ID)
                self._rebalancer.answer_join(group, member, failed, done)
            elif group.state is GroupState.STABLE:
                result = self._static_result(group, request, member, old_leader)
                self._rebalancer.answer_join(group, member, result, done)
            self._core.touch(group, member)
            return done

        assignments = {known.member_id: known.assignment for known in group.members.values()}
        out.write([group_record(group.group_id, group.to_value(assignments))], stored)

    def _static_result(
        self, group: ClassicGroup, request: JoinRequest, member: Member, old_leader: str | None
    ) -> JoinResult:
        """No rebalance: the member keeps its assignment, which SyncGroup will give it.

        A returning leader may learn that it leads only if it knows `skip_assignment` (v9); an
        older one is shown its former id as leader, so that it does not assign again.
        """
        is_leader = group.leader == member.member_id
        skip = request.skip_assignment_supported
        return JoinResult(
            error=ErrorCode.NONE,
            member_id=member.member_id,
            generation=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            leader=(group.leader if skip else old_leader) or UNKNOWN_MEMBER_ID,
            skip_assignment=skip and is_leader,
            members=group.joined_members() if skip and is_leader else (),
        )

    def _fence(self, group: ClassicGroup, member: Member, out: Outcome) -> None:
        fenced = ErrorCode.FENCED_INSTANCE_ID
        self._rebalancer.answer_join(
            group, member, JoinResult(error=fenced, member_id=member.member_id), out
        )
        self._rebalancer.answer_sync(member, SyncResult(error=fenced), out)

    def _rename(self, group: ClassicGroup, instance_id: str, member_id: str) -> None:
        old_member_id = group.static_members[instance_id]
        self._core.deadlines.cancel(session_key(group.group_id, old_member_id))
        group.rename_static_member(instance_id, member_id)


def _refuse(
    out: Outcome, ticket: Ticket, error: ErrorCode, member_id: str = UNKNOWN_MEMBER_ID
) -> Outcome:
    out.reply(ticket, JoinResult(error=error, member_id=member_id))
    return out
