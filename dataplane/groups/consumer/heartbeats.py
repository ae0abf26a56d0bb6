"""ConsumerGroupHeartbeat: joining, staying, taking over, leaving; and the members' deadlines."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING, Any

from dataplane.groups.consumer.assignors import ASSIGNORS, Subscriber
from dataplane.groups.consumer.change import Change
from dataplane.groups.consumer.group import (
    JOINING,
    LEAVING,
    LEAVING_FOR_A_WHILE,
    ConsumerGroup,
    ConsumerMember,
)
from dataplane.groups.consumer.id_partition import NOTHING
from dataplane.groups.consumer.reconciliation import next_step
from dataplane.groups.consumer.requests import (
    NOT_SAID,
    ConsumerGroupDescription,
    ConsumerHeartbeatResult,
    ConsumerMemberDescription,
)
from dataplane.groups.consumer.states import MemberState
from dataplane.groups.consumer.topics import Subscriptions
from dataplane.groups.consumer.validation import check_epoch, check_instance, check_request
from dataplane.groups.core import group_write_error
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import group_tombstone
from dataplane.groups.states import GroupState
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.groups.consumer.requests import ConsumerHeartbeat
    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.core import DeadlineKey, ShardCore
    from dataplane.groups.outcome import Ticket
    from dataplane.groups.requests import CommitRequest


def session_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-session", group_id, member_id)


def revocation_key(group_id: str, member_id: str) -> DeadlineKey:
    return ("consumer-revocation", group_id, member_id)


def is_consumers(key: DeadlineKey) -> bool:
    """Whether a deadline of the shard is one of these."""
    return key[0] in ("consumer-session", "consumer-revocation")


class ConsumerHeartbeats:
    """Decides about one heartbeat; it is answered once what it has changed is committed."""

    def __init__(self, core: ShardCore, topics: TopicCatalogue) -> None:
        self._core = core
        self._topics = topics
        refresh_ms = core.settings.consumer_regex_refresh_interval_ms
        self.subscriptions = Subscriptions(topics, core.clock, refresh_ms=refresh_ms)
        # The version of the topics with which a group's own picture of them was last compared.
        self._compared: dict[str, int] = {}

    # requests

    def heartbeat(self, request: ConsumerHeartbeat, ticket: Ticket) -> Outcome:
        """The reply is a `ConsumerHeartbeatResult`."""
        out = Outcome()
        try:
            check_request(request, self._core.settings.consumer_assignors)
            change = self._begin(request)
            if request.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
                result = self._leave(change, request)
            else:
                result = self._stay(change, request)
        except KafkaError as refused:
            out.reply(ticket, ConsumerHeartbeatResult(error=refused.code, message=refused.message))
            return out
        self._answer(change, result, ticket, out)
        return out

    def _answer(
        self, change: Change, result: ConsumerHeartbeatResult, ticket: Ticket, out: Outcome
    ) -> None:
        group_id = change.group.group_id

        def stored(error: ErrorCode) -> Outcome:
            done = Outcome()
            if error is ErrorCode.NONE:
                done.reply(ticket, result)
                return done
            self._after_refusal(group_id)
            refusal = group_write_error(error)
            if error is ErrorCode.REQUEST_TIMED_OUT:
                refusal = ErrorCode.COORDINATOR_NOT_AVAILABLE
            done.reply(ticket, ConsumerHeartbeatResult(error=refusal, message=refusal.message))
            return done

        if change.steps:
            self._core.consumer_groups.submit(change, out, stored)
        else:
            more = self._core.consumer_groups.when_stored(group_id, stored)
            out.replies += more.replies

    def _begin(self, request: ConsumerHeartbeat) -> Change:
        """The group, made if a member joins one that is not there, or an empty classic one."""
        group_id = request.group_id
        group = self._core.consumer_groups.find(group_id)
        if group is not None:
            return Change(group)
        classic = self._core.find(group_id)
        is_replaceable = classic is None or classic.state is GroupState.EMPTY
        if request.member_epoch != JOINING or not is_replaceable:
            reason = "not found" if classic is None else "is not a consumer group"
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")
        change = Change(ConsumerGroup(group_id))
        if classic is not None and group_id in self._core.durable.groups:
            change.before.append(group_tombstone(group_id))
        return change

    # staying

    def _stay(self, change: Change, request: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        group = change.group
        if not request.member_id:
            member_id = str(self._core.entropy.uuid4())
            request = dataclasses.replace(request, member_id=member_id)
        member, replaced = self._who(group, request)
        updated = _updated(member, request)
        if replaced is not None:
            self.subscriptions.rename(group.group_id, replaced.member_id, member.member_id)
        regex_changed = self.subscriptions.resolve(
            group.group_id, updated.member_id, updated.regex, request.may_describe
        )
        # From here on nothing is refused, so nothing is done by halves.
        self._take_over_classic(change)
        is_new = replaced is None and member.member_id not in group.members
        if replaced is not None:
            self._replace(change, replaced, member)
        if is_new or updated != member:
            change.set_member(updated)
        resubscribed = (updated.topics, updated.regex) != (member.topics, member.regex)
        self._refresh(change, has_changed=is_new or resubscribed or regex_changed)
        if group.epoch > group.target_epoch:
            self._assign(change)
        current = group.members[member.member_id]
        stepped = next_step(group, current, request.owned)
        if stepped != current or is_new:
            change.set_current(stepped)
        self._watch(group, stepped, has_stepped=stepped != current)
        # Who names an epoch before its own has not got the answer that said both.
        says_assignment = (
            request.is_full
            or stepped.assigned != member.assigned
            or request.member_epoch != member.epoch
        )
        return ConsumerHeartbeatResult(
            member_id=stepped.member_id,
            member_epoch=stepped.epoch,
            heartbeat_interval_ms=self._core.settings.consumer_heartbeat_interval_ms,
            assignment=stepped.assigned if says_assignment else None,
        )

    def _who(
        self, group: ConsumerGroup, request: ConsumerHeartbeat
    ) -> tuple[ConsumerMember, ConsumerMember | None]:
        """The member that speaks, and the static member whose place it takes."""
        known = group.members.get(request.member_id)
        if request.instance_id is not None:
            return self._who_static(group, request, known)
        if known is not None:
            check_epoch(known, request)
            return known, None
        return self._newcomer(group, request), None

    def _newcomer(self, group: ConsumerGroup, request: ConsumerHeartbeat) -> ConsumerMember:
        if request.member_epoch != JOINING:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {request.member_id} is not a member of group {group.group_id}.",
            )
        limit = self._core.settings.consumer_max_size
        if len(group.members) >= limit:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {limit} members.",
            )
        return ConsumerMember(member_id=request.member_id)

    def _who_static(
        self, group: ConsumerGroup, request: ConsumerHeartbeat, known: ConsumerMember | None
    ) -> tuple[ConsumerMember, ConsumerMember | None]:
        """Static members (KIP-345): an instance id's place is free once its member has left.

        The same member may join again at any time: it has not seen the answer.
        """
        holder_id = group.static_members.get(request.instance_id or "")
        holder = None if holder_id is None else group.members[holder_id]
        if request.member_epoch != JOINING:
            holder = check_instance(holder, request)
            check_epoch(holder, request)
            return holder, None
        if holder is None:
            return known or self._newcomer(group, request), None
        if holder.epoch != LEAVING_FOR_A_WHILE:
            if holder.member_id == request.member_id:
                return holder, None
            raise KafkaError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {request.member_id} with instance id {request.instance_id} cannot "
                f"join the group because the instance id is owned by member {holder.member_id}.",
            )
        heir = dataclasses.replace(
            holder, member_id=request.member_id, epoch=JOINING, previous_epoch=JOINING
        )
        return heir, holder

    def _replace(self, change: Change, left: ConsumerMember, heir: ConsumerMember) -> None:
        """What the one had, the other has; nothing is dealt out again."""
        group = change.group
        target = group.target_of(left.member_id)
        self._unwatch(group.group_id, left.member_id)
        change.remove_member(left.member_id)
        change.set_member(heir)
        change.set_target(heir.member_id, target)
        change.set_current(heir)

    def _take_over_classic(self, change: Change) -> None:
        """An empty classic group ends where the consumer group begins; its offsets stay."""
        group_id = change.group.group_id
        classic = self._core.find(group_id)
        if classic is not None:
            classic.move_to(GroupState.DEAD, now_ms=self._core.clock.realtime_ms())
            del self._core.groups[group_id]

    # leaving

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
            holder_id = group.static_members.get(request.instance_id)
            holder = None if holder_id is None else group.members[holder_id]
            member = check_instance(holder, request)
        if request.member_epoch == LEAVING_FOR_A_WHILE:
            left = dataclasses.replace(
                member,
                epoch=LEAVING_FOR_A_WHILE,
                previous_epoch=member.epoch,
                state=MemberState.STABLE,
                revoking=NOTHING,
            )
            change.set_current(left)
            self._core.deadlines.cancel(revocation_key(group.group_id, member.member_id))
        else:
            self._remove(change, member)
        return ConsumerHeartbeatResult(
            member_id=member.member_id, member_epoch=request.member_epoch
        )

    def _remove(self, change: Change, member: ConsumerMember) -> None:
        group = change.group
        self._unwatch(group.group_id, member.member_id)
        self.subscriptions.forget(group.group_id, member.member_id)
        change.remove_member(member.member_id)
        self._refresh(change, has_changed=True)

    # what the group is to do

    def _refresh(self, change: Change, *, has_changed: bool) -> None:
        """A new epoch when members or their topics have changed since the last one."""
        group = change.group
        version = self._topics.version
        if has_changed or self._compared.get(group.group_id) != version:
            self._compared[group.group_id] = version
            found = {
                name: info
                for name in self.subscriptions.names_of_all(group)
                if (info := self._topics.get(name)) is not None
            }
            if found != group.topics:
                change.set_topics(found)
                has_changed = True
        if has_changed:
            change.set_epoch(group.epoch + 1)

    def _assign(self, change: Change) -> None:
        """Deal out all partitions for the group's epoch; only what changes is stored."""
        group = change.group
        ids = {name: info.topic_id.bytes for name, info in group.topics.items()}
        subscribers = {
            member.member_id: Subscriber(
                member.instance_id,
                frozenset(
                    ids[name] for name in self.subscriptions.names_of(group, member) if name in ids
                ),
            )
            for member in group.members.values()
        }
        counts = {info.topic_id.bytes: info.partition_count for info in group.topics.values()}
        targets = ASSIGNORS[self.assignor_of(group)](subscribers, counts, group.targets)
        for member_id, target in targets.items():
            if group.targets.get(member_id) != target:
                change.set_target(member_id, target)
        change.set_target_epoch(group.epoch)

    def assignor_of(self, group: ConsumerGroup) -> str:
        """The assignor that most members ask for; the first that is configured if none does."""
        votes = collections.Counter(
            member.assignor for member in group.members.values() if member.assignor is not None
        )
        offered = self._core.settings.consumer_assignors
        return max(offered, key=lambda name: (votes[name], -offered.index(name)))

    # deadlines

    def _watch(self, group: ConsumerGroup, member: ConsumerMember, *, has_stepped: bool) -> None:
        """Its session begins again; giving up partitions has a deadline of its own."""
        now_ms = self._core.clock.monotonic_ms()
        deadlines = self._core.deadlines
        session_ms = self._core.settings.consumer_session_timeout_ms
        deadlines.set(session_key(group.group_id, member.member_id), now_ms + session_ms)
        revocation = revocation_key(group.group_id, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            deadlines.cancel(revocation)
        elif has_stepped or revocation not in deadlines:
            deadlines.set(revocation, now_ms + max(member.rebalance_timeout_ms, 0))

    def _unwatch(self, group_id: str, member_id: str) -> None:
        self._core.deadlines.cancel(session_key(group_id, member_id))
        self._core.deadlines.cancel(revocation_key(group_id, member_id))

    def _after_refusal(self, group_id: str) -> None:
        """A change was taken back: so is what it did to an empty classic group of that name."""
        if self._core.consumer_groups.find(group_id) is None and self._core.find(group_id) is None:
            self._core.restore(group_id)
        self._watch_all(group_id)

    def _watch_all(self, group_id: str) -> None:
        """Every member has its deadlines, also who has become one again."""
        group = self._core.consumer_groups.find(group_id)
        if group is None:
            return
        for member in group.members.values():
            if session_key(group_id, member.member_id) not in self._core.deadlines:
                self._watch(group, member, has_stepped=False)

    def load(self) -> None:
        """The log is read: every member has a session's time to be heard of."""
        self._core.consumer_groups.load()
        for group in self._core.consumer_groups.all():
            self._watch_all(group.group_id)

    def unload(self) -> None:
        self._core.consumer_groups.clear()
        self.subscriptions.clear()
        self._compared.clear()

    def on_deadline(self, key: DeadlineKey, out: Outcome) -> None:
        """A member fell silent, or did not give up its partitions in time: it is removed."""
        kind, group_id, member_id = key
        group = self._core.consumer_groups.find(group_id)
        member = None if group is None else group.members.get(member_id)
        if group is None or member is None:
            return
        is_late = member.state is MemberState.UNREVOKED_PARTITIONS
        if kind == "consumer-revocation" and not is_late:
            return
        change = Change(group)
        self._remove(change, member)

        def stored(error: ErrorCode) -> Outcome:
            if error is not ErrorCode.NONE:
                self._after_refusal(group_id)
            return Outcome()

        self._core.consumer_groups.submit(change, out, stored)

    # the group's end

    def end_group(self, group: ConsumerGroup) -> Change:
        """Tombstones for an empty group, which is Dead once they are submitted."""
        change = Change(group)
        change.remove_group()
        self._compared.pop(group.group_id, None)
        return change

    def end_for_classic(self, group_id: str, out: Outcome) -> bool:
        """Make way for a classic group of that name; False when members are in the way."""
        group = self._core.consumer_groups.find(group_id)
        if group is None:
            return True
        if group.members:
            return False
        self._core.consumer_groups.submit(self.end_group(group), out, lambda _error: Outcome())
        return True

    # what offsets ask

    def check_commit(self, group: ConsumerGroup, request: CommitRequest) -> ErrorCode:
        """Whether offsets may be committed: by a member with its epoch, or while it is empty."""
        if request.generation < 0 and not group.members:
            return ErrorCode.NONE
        member = group.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not request.has_member_epoch:
            return ErrorCode.UNSUPPORTED_VERSION
        return (
            ErrorCode.NONE if member.epoch == request.generation else ErrorCode.STALE_MEMBER_EPOCH
        )

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> ErrorCode:
        """Whether who asks for offsets as a member of a consumer group is one, with its epoch."""
        group = self._core.consumer_groups.find(group_id)
        if group is None or (member_id is None and member_epoch < 0):
            return ErrorCode.NONE
        member = group.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member.epoch == member_epoch else ErrorCode.STALE_MEMBER_EPOCH

    # views

    def describe(self, group_id: str) -> ConsumerGroupDescription:
        """GROUP_ID_NOT_FOUND for a group that is not there or speaks the classic protocol."""
        group = self._core.consumer_groups.find(group_id)
        if group is None:
            is_classic = self._core.find(group_id) is not None
            reason = "is not a consumer group" if is_classic else "not found"
            return ConsumerGroupDescription(
                group_id=group_id,
                error=ErrorCode.GROUP_ID_NOT_FOUND,
                message=f"Group {group_id} {reason}.",
            )
        return ConsumerGroupDescription(
            group_id=group_id,
            state=group.state.value,
            epoch=group.epoch,
            target_epoch=group.target_epoch,
            assignor=self.assignor_of(group),
            members=tuple(
                ConsumerMemberDescription(member, group.target_of(member.member_id))
                for member in group.members.values()
            ),
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
        member, client_id=request.client_id, client_host=request.client_host, **changed
    )
