"""The parts that decide about consumer groups, put together over one shard's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.arrivals import Arrivals
from dataplane.groups.consumer.classic_members import ClassicMembers
from dataplane.groups.consumer.dealing import Dealing
from dataplane.groups.consumer.departures import Departures
from dataplane.groups.consumer.handover import Handover
from dataplane.groups.consumer.heartbeats import ConsumerHeartbeats
from dataplane.groups.consumer.member_deadlines import MemberDeadlines
from dataplane.groups.consumer.requests import (
    ConsumerGroupDescription,
    ConsumerMemberDescription,
)
from dataplane.groups.consumer.storing import Storing
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from dataplane.groups.consumer.requests import ConsumerHeartbeat
    from dataplane.groups.consumer.topics import Subscriptions, TopicCatalogue
    from dataplane.groups.core import ShardCore
    from dataplane.groups.outcome import Outcome, Ticket
    from dataplane.groups.rebalance import Rebalancer


class ConsumerParts:
    """Heartbeats, departures, and what others ask about consumer groups."""

    def __init__(self, core: ShardCore, topics: TopicCatalogue, rebalancer: Rebalancer) -> None:
        self._core = core
        self._dealing = Dealing(core, topics)
        self._deadlines = MemberDeadlines(core)
        handover = Handover(core, rebalancer)
        storing = Storing(core, self._deadlines, handover)
        arrivals = Arrivals(core, self._deadlines)
        self.departures = Departures(core, self._dealing, self._deadlines, storing)
        self._heartbeats = ConsumerHeartbeats(
            core,
            dealing=self._dealing,
            deadlines=self._deadlines,
            storing=storing,
            handover=handover,
            arrivals=arrivals,
            departures=self.departures,
        )
        self.classic_members = ClassicMembers(
            core,
            dealing=self._dealing,
            deadlines=self._deadlines,
            storing=storing,
            arrivals=arrivals,
            departures=self.departures,
        )

    def heartbeat(self, request: ConsumerHeartbeat, ticket: Ticket) -> Outcome:
        """The reply is a `ConsumerHeartbeatResult`."""
        return self._heartbeats.heartbeat(request, ticket)

    @property
    def subscriptions(self) -> Subscriptions:
        return self._dealing.subscriptions

    def load(self) -> None:
        """The log is read: every member has a session's time to be heard of."""
        self._core.consumer_groups.load()
        for group in self._core.consumer_groups.all():
            self._deadlines.watch_all(group)

    def unload(self) -> None:
        self._core.consumer_groups.clear()
        self._dealing.clear()

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
            assignor=self._dealing.assignor_of(group),
            members=tuple(
                ConsumerMemberDescription(member, group.target_of(member.member_id))
                for member in group.members.values()
            ),
        )
