"""Who speaks: a member that is known, a newcomer, or the heir of a static member (KIP-345)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from dataplane.groups.consumer.group import JOINING, LEAVING_FOR_A_WHILE, ConsumerMember
from dataplane.groups.consumer.validation import check_epoch, check_instance
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.groups.consumer.change import Change
    from dataplane.groups.consumer.group import ConsumerGroup
    from dataplane.groups.consumer.member_deadlines import MemberDeadlines
    from dataplane.groups.consumer.requests import ConsumerHeartbeat
    from dataplane.groups.core import ShardCore


class Speaker(NamedTuple):
    """`replaced`: the static member whose place `member` takes, under another member id."""

    member: ConsumerMember
    replaced: ConsumerMember | None = None


class Arrivals:
    """Finds out who speaks, changing nothing; and puts heirs into their places."""

    def __init__(self, core: ShardCore, deadlines: MemberDeadlines) -> None:
        self._core = core
        self._deadlines = deadlines

    def speaker(self, group: ConsumerGroup, request: ConsumerHeartbeat) -> Speaker:
        """Who sent a heartbeat. KafkaError when it is nobody who may."""
        known = group.members.get(request.member_id)
        if request.instance_id is not None:
            return self._static_speaker(group, request, known)
        if known is not None:
            check_epoch(known, request)
            return Speaker(known)
        return Speaker(self._joining(group, request))

    def _joining(self, group: ConsumerGroup, request: ConsumerHeartbeat) -> ConsumerMember:
        if request.member_epoch != JOINING:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {request.member_id} is not a member of group {group.group_id}.",
            )
        return self.newcomer(group, request.member_id)

    def newcomer(self, group: ConsumerGroup, member_id: str) -> ConsumerMember:
        """KafkaError(GROUP_MAX_SIZE_REACHED) when there is no room."""
        limit = self._core.settings.consumer_max_size
        if len(group.members) >= limit:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {limit} members.",
            )
        return ConsumerMember(member_id=member_id)

    def _static_speaker(
        self, group: ConsumerGroup, request: ConsumerHeartbeat, known: ConsumerMember | None
    ) -> Speaker:
        """An instance id's place is free once its member has left, as that of a member of the
        classic protocol always is.

        The same member may join again at any time: it has not seen the answer.
        """
        holder = group.static_member(request.instance_id)
        if request.member_epoch != JOINING:
            holder = check_instance(holder, request)
            check_epoch(holder, request)
            return Speaker(holder)
        if holder is None:
            return Speaker(known or self.newcomer(group, request.member_id))
        if holder.member_id == request.member_id and holder.epoch != LEAVING_FOR_A_WHILE:
            return Speaker(holder)
        if holder.epoch != LEAVING_FOR_A_WHILE and holder.classic is None:
            raise KafkaError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {request.member_id} with instance id {request.instance_id} cannot "
                f"join the group because the instance id is owned by member {holder.member_id}.",
            )
        return Speaker(heir_of(holder, request.member_id), holder)

    def replace(self, change: Change, left: ConsumerMember, heir: ConsumerMember) -> None:
        """What the one had, the other has; nothing is dealt out again."""
        group = change.group
        target = group.target_of(left.member_id)
        self._deadlines.unwatch(group.group_id, left.member_id)
        change.remove_member(left.member_id)
        change.set_member(heir)
        change.set_target(heir.member_id, target)
        change.set_current(heir)


def heir_of(holder: ConsumerMember, member_id: str) -> ConsumerMember:
    return dataclasses.replace(holder, member_id=member_id, epoch=JOINING, previous_epoch=JOINING)
