"""How members go: they leave, fall silent, or are late; and how a group ends."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.groups.consumer.change import Change
from dataplane.groups.consumer.group import LEAVING_FOR_A_WHILE
from dataplane.groups.consumer.id_partition import NOTHING
from dataplane.groups.consumer.migration import downgrade, may_downgrade
from dataplane.groups.consumer.states import MemberState

if TYPE_CHECKING:
    from dataplane.groups.consumer.dealing import Dealing
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember
    from dataplane.groups.consumer.member_deadlines import MemberDeadlines
    from dataplane.groups.consumer.storing import Storing
    from dataplane.groups.core import DeadlineKey, ShardCore
    from dataplane.groups.outcome import Outcome


class Departures:
    """Removes members; the others are dealt their partitions with the next heartbeats."""

    def __init__(
        self, core: ShardCore, dealing: Dealing, deadlines: MemberDeadlines, storing: Storing
    ) -> None:
        self._core = core
        self._dealing = dealing
        self._deadlines = deadlines
        self._storing = storing

    def leave_for_a_while(self, change: Change, member: ConsumerMember) -> None:
        """A static member keeps its place until its session ends."""
        left = dataclasses.replace(
            member,
            epoch=LEAVING_FOR_A_WHILE,
            previous_epoch=member.epoch,
            state=MemberState.STABLE,
            revoking=NOTHING,
        )
        change.set_current(left)
        self._deadlines.owes_nothing(change.group.group_id, member.member_id)

    def remove(self, change: Change, *members: ConsumerMember) -> None:
        """What the last ones of the new protocol leave behind becomes a classic group."""
        leaving = {member.member_id for member in members}
        if self.downgrades(change, leaving):
            return
        for member_id in sorted(leaving):
            self._forget(change.group.group_id, member_id)
            change.remove_member(member_id)
        self._dealing.refresh(change, has_changed=True)

    def downgrades(self, change: Change, leaving: set[str]) -> bool:
        """Make a classic group of it, if without the leaving that is what it is."""
        group, core = change.group, self._core
        if not may_downgrade(group, leaving, core.settings):
            return False
        for member_id in group.members:
            self._forget(group.group_id, member_id)
        self._dealing.forget_group(group.group_id)
        downgrade(change, leaving, self._dealing.topics, now_ms=core.clock.realtime_ms())
        return True

    def _forget(self, group_id: str, member_id: str) -> None:
        self._deadlines.unwatch(group_id, member_id)
        self._dealing.subscriptions.forget(group_id, member_id)

    def on_deadline(self, key: DeadlineKey, out: Outcome) -> None:
        """A member fell silent, or did not do in time what it was asked to: it is removed."""
        kind, group_id, member_id = key
        group = self._core.consumer_groups.find(group_id)
        member = None if group is None else group.members.get(member_id)
        if group is None or member is None:
            return
        is_late = member.state is MemberState.UNREVOKED_PARTITIONS
        if kind == "consumer-revocation" and not is_late:
            return
        change = Change(group)
        self.remove(change, member)
        self._storing.submit(change, out)

    # the group's end

    def end_group(self, group: ConsumerGroup) -> Change:
        """Tombstones for an empty group, which is Dead once they are submitted."""
        change = Change(group)
        change.remove_group()
        self._dealing.forget_group(group.group_id)
        return change

    def end_for_classic(self, group_id: str, out: Outcome) -> None:
        """An empty consumer group makes way for a classic one of that name."""
        group = self._core.consumer_groups.find(group_id)
        if group is not None:
            self._storing.submit(self.end_group(group), out)
