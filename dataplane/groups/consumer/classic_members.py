"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of members in a consumer group (KIP-848).

The coordinator assigns, so nobody leads and nobody waits: a join is answered with the member's
epoch as its generation, a sync with what it may read. A heartbeat says when to join again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.groups.consumer.arrivals import Speaker, heir_of
from dataplane.groups.consumer.change import Change
from dataplane.groups.consumer.classic_checks import (
    check_protocols,
    leaving_member,
    member_of,
)
from dataplane.groups.consumer.classic_side import ClassicSide
from dataplane.groups.consumer.reconciliation import next_step
from dataplane.groups.consumer.states import MemberState
from dataplane.groups.consumer.topics import embedded, named
from dataplane.groups.consumer_protocol import PROTOCOL_TYPE
from dataplane.groups.core import group_write_error
from dataplane.groups.requests import UNKNOWN_MEMBER_ID, JoinResult, LeftMember, SyncResult
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.groups.consumer.arrivals import Arrivals
    from dataplane.groups.consumer.dealing import Dealing
    from dataplane.groups.consumer.departures import Departures
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
    from dataplane.groups.consumer.id_partition import Assignment
    from dataplane.groups.consumer.member_deadlines import MemberDeadlines
    from dataplane.groups.consumer.storing import Storing
    from dataplane.groups.consumer_protocol import Subscription
    from dataplane.groups.core import ShardCore
    from dataplane.groups.outcome import Outcome, Ticket
    from dataplane.groups.requests import JoinRequest, LeavingMember, SyncRequest


class ClassicMembers:
    """Serves them on the consumer group; the members of the new protocol notice nothing."""

    def __init__(
        self,
        core: ShardCore,
        *,
        dealing: Dealing,
        deadlines: MemberDeadlines,
        storing: Storing,
        arrivals: Arrivals,
        departures: Departures,
    ) -> None:
        self._core = core
        self._dealing = dealing
        self._deadlines = deadlines
        self._storing = storing
        self._arrivals = arrivals
        self._departures = departures

    # joining

    def join(
        self, group: ConsumerGroup, request: JoinRequest, ticket: Ticket, out: Outcome
    ) -> JoinRequest | None:
        """The reply is a `JoinResult`.

        None, or what is left to do: the member joins the classic group that this one has become,
        because the member took the place of the last one that spoke the new protocol.
        """
        member_id = request.member_id
        if member_id == UNKNOWN_MEMBER_ID:
            member_id = self._core.new_member_id(request.client_id, request.group_instance_id)
        try:
            side, subscription = check_protocols(group, request)
            speaker = self._speaker(group, request, member_id)
            if request.must_come_again:
                raise KafkaError(ErrorCode.MEMBER_ID_REQUIRED)
        except KafkaError as refused:
            keeps_id = refused.code is ErrorCode.MEMBER_ID_REQUIRED
            said = member_id if keeps_id else request.member_id
            out.reply(ticket, JoinResult(error=refused.code, member_id=said))
            return None
        updated = _updated(speaker.member, request, side, subscription)
        change = Change(group)
        joined = self._take_in(change, speaker, updated)
        ends_protocol = speaker.replaced is not None and speaker.replaced.classic is None
        if ends_protocol and self._departures.downgrades(change, set()):
            self._storing.submit(change, out)
            return dataclasses.replace(request, member_id=member_id)
        owned = embedded(subscription.owned, self._dealing.topics)
        stepped = self._step(change, joined, owned)
        self._answer_join(change, stepped, request, ticket, out)
        return None

    def _speaker(self, group: ConsumerGroup, request: JoinRequest, member_id: str) -> Speaker:
        """A dynamic member may come with an id that it was handed out: those are not kept."""
        known = group.members.get(member_id)
        if request.group_instance_id is None:
            return Speaker(known or self._arrivals.newcomer(group, member_id))
        holder = group.static_member(request.group_instance_id)
        if request.member_id != UNKNOWN_MEMBER_ID:
            if holder is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            if holder.member_id != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
            return Speaker(holder)
        if holder is None:
            return Speaker(self._arrivals.newcomer(group, member_id))
        return Speaker(heir_of(holder, member_id), holder)

    def _take_in(self, change: Change, speaker: Speaker, updated: ConsumerMember) -> ConsumerMember:
        """The member as it is known now; `change` has what it says about itself."""
        group = change.group
        member, replaced = speaker
        is_new = replaced is None and member.member_id not in group.members
        subscriptions = self._dealing.subscriptions
        subscriptions.forget(group.group_id, member.member_id)
        if replaced is not None:
            subscriptions.forget(group.group_id, replaced.member_id)
            self._arrivals.replace(change, replaced, member)
        if is_new or updated != member:
            change.set_member(updated)
        resubscribed = (updated.topics, updated.regex) != (member.topics, member.regex)
        self._dealing.refresh(change, has_changed=is_new or resubscribed)
        return group.members[member.member_id]

    def _step(self, change: Change, member: ConsumerMember, owned: Assignment) -> ConsumerMember:
        """Take the member one step towards its target."""
        group = change.group
        self._dealing.assign(change)
        current = group.members[member.member_id]
        stepped = next_step(group, current, owned)
        if stepped != current:
            change.set_current(stepped)
        self._deadlines.watch(group, stepped, has_stepped=stepped != current)
        self._deadlines.joined(group, stepped)
        return stepped

    def _answer_join(
        self,
        change: Change,
        stepped: ConsumerMember,
        request: JoinRequest,
        ticket: Ticket,
        out: Outcome,
    ) -> None:
        side = stepped.classic

        def answer(error: ErrorCode, done: Outcome) -> None:
            if error is ErrorCode.NONE and side is not None:
                result = JoinResult(
                    error=error,
                    member_id=stepped.member_id,
                    generation=stepped.epoch,
                    protocol_type=PROTOCOL_TYPE,
                    protocol_name=side.protocol_name,
                )
            else:
                result = JoinResult(error=group_write_error(error), member_id=request.member_id)
            done.reply(ticket, result)

        self._storing.submit(change, out, answer)

    # syncing

    def sync(
        self, group: ConsumerGroup, request: SyncRequest, ticket: Ticket, out: Outcome
    ) -> None:
        """The reply is a `SyncResult`, with what the member may read in the group's own words."""
        try:
            member, side = member_of(group, request.member_id, request.group_instance_id)
            self._check_sync(group, member, side, request)
        except KafkaError as refused:
            out.reply(ticket, SyncResult(error=refused.code))
            return
        self._deadlines.watch(group, member, has_stepped=False)
        self._deadlines.synced(group.group_id, member.member_id)
        held = named(member.assigned, self._dealing.topics)

        def answer(error: ErrorCode, done: Outcome) -> None:
            if error is not ErrorCode.NONE:
                done.reply(ticket, SyncResult(error=group_write_error(error)))
                return
            result = SyncResult(
                error=error,
                protocol_type=PROTOCOL_TYPE,
                protocol_name=side.protocol_name,
                assignment=side.assignment(held),
            )
            done.reply(ticket, result)

        self._storing.submit(Change(group), out, answer)

    def _check_sync(
        self, group: ConsumerGroup, member: ConsumerMember, side: ClassicSide, request: SyncRequest
    ) -> None:
        if request.generation != member.epoch:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        wrong_type = request.protocol_type not in (None, PROTOCOL_TYPE)
        if wrong_type or request.protocol_name not in (None, side.protocol_name):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        # Who is to give something up has to learn what, before it can join again.
        is_revoking = member.state is MemberState.UNREVOKED_PARTITIONS
        if member.epoch < group.epoch and not is_revoking:
            self._deadlines.must_join(group, member)
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    # staying and leaving

    def heartbeat(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """REBALANCE_IN_PROGRESS: join again; something is to be given up, or there is more."""
        try:
            member, _side = member_of(group, member_id, instance_id)
        except KafkaError as refused:
            return refused.code
        if generation != member.epoch:
            return ErrorCode.ILLEGAL_GENERATION
        self._deadlines.watch(group, member, has_stepped=False)
        if member.epoch < group.epoch or _may_step(group, member):
            self._deadlines.must_join(group, member)
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def leave(
        self, group: ConsumerGroup, members: list[LeavingMember], out: Outcome
    ) -> list[LeftMember]:
        """Remove members; an administrator names static ones by instance id alone."""
        leaving: dict[str, ConsumerMember] = {}
        left = []
        for member_id, instance_id in members:
            error = ErrorCode.NONE
            try:
                member, _side = leaving_member(group, member_id, instance_id)
                if member.member_id in leaving:
                    raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
                leaving[member.member_id] = member
            except KafkaError as refused:
                error = refused.code
            left.append(LeftMember(member_id, instance_id, error))
        if leaving:
            change = Change(group)
            self._departures.remove(change, *leaving.values())
            self._storing.submit(change, out)
        return left


def _may_step(group: ConsumerGroup, member: ConsumerMember) -> bool:
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    if member.state is not MemberState.UNRELEASED_PARTITIONS:
        return False
    missing = group.target_of(member.member_id) - member.assigned
    return all(group.is_free_for(member.member_id, part) for part in missing)


def _updated(
    member: ConsumerMember, request: JoinRequest, side: ClassicSide, subscription: Subscription
) -> ConsumerMember:
    return dataclasses.replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        topics=subscription.topics,
        regex=None,
        assignor=None,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        classic=side,
    )
