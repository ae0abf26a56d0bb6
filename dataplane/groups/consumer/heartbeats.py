"""ConsumerGroupHeartbeat: joining, staying, taking over, leaving."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dataplane.groups.consumer.change import Change
from dataplane.groups.consumer.group import (
    JOINING,
    LEAVING,
    LEAVING_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerMember,
)
from dataplane.groups.consumer.migration import upgraded
from dataplane.groups.consumer.reconciliation import next_step
from dataplane.groups.consumer.requests import NOT_SAID, ConsumerHeartbeatResult
from dataplane.groups.consumer.storing import heartbeat_write_error
from dataplane.groups.consumer.validation import check_instance, check_request
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import group_tombstone
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.groups.consumer.arrivals import Arrivals
    from dataplane.groups.consumer.dealing import Dealing
    from dataplane.groups.consumer.departures import Departures
    from dataplane.groups.consumer.handover import Handover
    from dataplane.groups.consumer.member_deadlines import MemberDeadlines
    from dataplane.groups.consumer.requests import ConsumerHeartbeat
    from dataplane.groups.consumer.storing import Storing
    from dataplane.groups.core import ShardCore
    from dataplane.groups.outcome import Ticket


class ConsumerHeartbeats:
    """Decides about one heartbeat; it is answered once what it has changed is committed."""

    def __init__(
        self,
        core: ShardCore,
        *,
        dealing: Dealing,
        deadlines: MemberDeadlines,
        storing: Storing,
        handover: Handover,
        arrivals: Arrivals,
        departures: Departures,
    ) -> None:
        self._core = core
        self._dealing = dealing
        self._deadlines = deadlines
        self._storing = storing
        self._handover = handover
        self._arrivals = arrivals
        self._departures = departures

    def heartbeat(self, request: ConsumerHeartbeat, ticket: Ticket) -> Outcome:
        """The reply is a `ConsumerHeartbeatResult`."""
        out = Outcome()
        try:
            check_request(request, self._core.settings.consumer_assignors)
            change = self._begin(request)
            if request.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
                result = self._leave(change, request)
            else:
                result = self._stay(change, request, out)
        except KafkaError as refused:
            out.reply(ticket, ConsumerHeartbeatResult(error=refused.code, message=refused.message))
            return out

        def answer(error: ErrorCode, done: Outcome) -> None:
            if error is ErrorCode.NONE:
                done.reply(ticket, result)
                return
            refusal = heartbeat_write_error(error)
            done.reply(ticket, ConsumerHeartbeatResult(error=refusal, message=refusal.message))

        self._storing.submit(change, out, answer)
        return out

    def _begin(self, request: ConsumerHeartbeat) -> Change:
        """The group; made if a member joins one that is not there, or a classic one."""
        group_id = request.group_id
        group = self._core.consumer_groups.find(group_id)
        if group is not None:
            return Change(group)
        classic = self._core.find(group_id)
        is_gone = classic is not None and classic.state is GroupState.DEAD
        if request.member_epoch != JOINING or is_gone:
            reason = "not found" if classic is None else "is not a consumer group"
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")
        if classic is not None and classic.members:
            return upgraded(classic, self._dealing.topics, self._core.settings)
        change = Change(ConsumerGroup(group_id))
        if classic is not None and group_id in self._core.durable.groups:
            change.before.append(group_tombstone(group_id))
        return change

    def _stay(
        self, change: Change, request: ConsumerHeartbeat, out: Outcome
    ) -> ConsumerHeartbeatResult:
        group = change.group
        if not request.member_id:
            member_id = str(self._core.entropy.uuid4())
            request = dataclasses.replace(request, member_id=member_id)
        member, replaced = self._arrivals.speaker(group, request)
        updated = _updated(member, request)
        subscriptions = self._dealing.subscriptions
        if replaced is not None:
            subscriptions.rename(group.group_id, replaced.member_id, member.member_id)
        regex_changed = subscriptions.resolve(
            group.group_id, updated.member_id, updated.regex, request.may_describe
        )
        # From here on nothing is refused, so nothing is done by halves.
        if self._core.find(group.group_id) is not None:
            replaced_id = None if replaced is None else replaced.member_id
            self._handover.take_over(group.group_id, replaced_id, out)
            self._deadlines.watch_all(group)
        is_new = replaced is None and member.member_id not in group.members
        if replaced is not None:
            self._arrivals.replace(change, replaced, member)
        if is_new or updated != member:
            change.set_member(updated)
        resubscribed = (updated.topics, updated.regex) != (member.topics, member.regex)
        self._dealing.refresh(change, has_changed=is_new or resubscribed or regex_changed)
        self._dealing.assign(change)
        current = group.members[member.member_id]
        stepped = next_step(group, current, request.owned)
        if stepped != current or is_new:
            change.set_current(stepped)
        self._deadlines.watch(group, stepped, has_stepped=stepped != current)
        # Who names an epoch before its own has not got the answer that said both.
        says_assignment = (
            request.is_full
            or stepped.assigned != member.assigned
            or request.member_epoch != member.epoch
        )
        return ConsumerHeartbeatResult(
            member_id=stepped.member_id,
            member_epoch=stepped.epoch,
            heartbeat_interval_ms=self._core.timings_of(group.group_id).heartbeat_interval_ms,
            assignment=stepped.assigned if says_assignment else None,
        )

    def _leave(self, change: Change, request: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        group = change.group
        if request.instance_id is None:
            member = group.members.get(request.member_id)
            if member is None:
                raise KafkaError(
                    ErrorCode.UNKNOWN_MEMBER_ID,
                    f"Member {request.member_id} is not a member of group {group.group_id}.",
                )
        else:
            member = check_instance(group.static_member(request.instance_id), request)
        if request.member_epoch == LEAVING_FOR_A_WHILE:
            self._departures.leave_for_a_while(change, member)
        else:
            self._departures.remove(change, member)
        return ConsumerHeartbeatResult(
            member_id=member.member_id, member_epoch=request.member_epoch
        )


def _updated(member: ConsumerMember, request: ConsumerHeartbeat) -> ConsumerMember:
    """The member with what the request says; what it does not say stays."""
    said = {
        "instance_id": request.instance_id,
        "rack_id": request.rack_id,
        "topics": request.topics,
        "regex": request.regex,
        "assignor": request.assignor,
    }
    changed: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    if request.rebalance_timeout_ms != NOT_SAID:
        changed["rebalance_timeout_ms"] = request.rebalance_timeout_ms
    return dataclasses.replace(
        member,
        client_id=request.client_id,
        client_host=request.client_host,
        classic=None,
        **changed,
    )
