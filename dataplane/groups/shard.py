"""The groups of one partition of `__consumer_offsets`: what decides about them, over one state.

Events go in, an `Outcome` comes out; nothing here waits, writes or sends. Time-outs are driven by
the host: it calls `tick` when `next_deadline_ms` has passed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dataplane.groups.consumer.member_deadlines import is_consumers
from dataplane.groups.consumer.parts import ConsumerParts
from dataplane.groups.consumer_protocol import PROTOCOL_TYPE
from dataplane.groups.core import ShardCore
from dataplane.groups.joining import Joining
from dataplane.groups.membership import Membership
from dataplane.groups.offsets import Offsets
from dataplane.groups.outcome import Outcome
from dataplane.groups.rebalance import Rebalancer
from dataplane.groups.records import decode_key
from dataplane.groups.requests import (
    CLASSIC,
    CONSUMER,
    GroupDescription,
    JoinResult,
    ListedGroup,
    MemberDescription,
    SyncResult,
)
from dataplane.groups.states import GroupState
from dataplane.groups.syncing import Syncing
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.records import StoredRecord
    from dataplane.groups.settings import ConsumerTimings, GroupSettings
    from dataplane.groups.tally import GroupTally
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy


class GroupShard:
    """Replay the log with `replay`, then `finish_loading`, then serve.

    Requests go to the part that decides them: `joining`, `syncing`, `membership` or `offsets`, and
    `consumers` for groups of the consumer protocol.
    """

    def __init__(
        self,
        settings: GroupSettings,
        clock: Clock,
        entropy: Entropy,
        topics: TopicCatalogue,
        *,
        timings_of: Callable[[str], ConsumerTimings] | None = None,
        tally: GroupTally | None = None,
    ) -> None:
        self.core = ShardCore(settings, clock, entropy, timings_of, tally)
        self._rebalancer = Rebalancer(self.core)
        self.consumers = ConsumerParts(self.core, topics, self._rebalancer)
        classic_members = self.consumers.classic_members
        self.syncing = Syncing(self.core, self._rebalancer, classic_members)
        self.membership = Membership(self.core, self._rebalancer, classic_members)
        self.joining = Joining(self.core, self._rebalancer, self.consumers)
        self.offsets = Offsets(self.core, self.consumers)

    # loading and unloading

    def replay(self, record: StoredRecord) -> None:
        """Apply a committed record to the durable part; ValueError for an unknown version."""
        self.core.durable.replay(record)

    def replay_in_transaction(self, producer_id: int, record: StoredRecord) -> None:
        """The same for a record of a transaction, which counts once that is committed."""
        self.core.durable.replay_in_transaction(producer_id, record)

    def finish_loading(self) -> Outcome:
        """The log is read: members stored in it have a session's time to show up."""
        out = Outcome()
        self.consumers.load()
        for group_id in [*self.core.durable.groups, *self.core.durable.offsets]:
            self._take_up_stored(group_id, out)
        return out

    def stored_late(self, records: Iterable[StoredRecord]) -> Outcome:
        """Nobody waited for these any more when they were replayed: their groups may have been
        forgotten meanwhile, as empty ones of which nothing is stored.
        """
        out = Outcome()
        for record in records:
            key = decode_key(record.key)
            if key is not None and self.core.consumer_groups.find(key.group) is None:
                self._take_up_stored(key.group, out)
        return out

    def _take_up_stored(self, group_id: str, out: Outcome) -> None:
        """A classic group of which the log has something, unless it is known here."""
        group = None if group_id in self.core.groups else self.core.restore(group_id)
        if group is None:
            return
        for member in group.members.values():
            self.core.touch(group, member)
        # Nobody leads a group whose migration from the consumer protocol was cut short.
        if group.members and (
            group.leader is None or len(group.members) > self.core.settings.max_size
        ):
            self._rebalancer.maybe_prepare(group, out)

    def unload(self) -> Outcome:
        """The partition is led elsewhere now: everyone who waits has to look for it."""
        out = Outcome()
        error = ErrorCode.NOT_COORDINATOR
        for group in self.core.groups.values():
            group.move_to(GroupState.DEAD, now_ms=self.core.clock.realtime_ms())
            for member in group.members.values():
                joined = JoinResult(error=error, member_id=member.member_id)
                self._rebalancer.answer_join(group, member, joined, out)
                self._rebalancer.answer_sync(member, SyncResult(error=error), out)
        self.core.groups.clear()
        self.consumers.unload()
        return out

    # time

    def next_deadline_ms(self) -> int | None:
        """On the monotonic clock; may be early, never late."""
        return self.core.deadlines.next_ms()

    def tick(self) -> Outcome:
        out = Outcome()
        for key in self.core.deadlines.expire(self.core.clock.monotonic_ms()):
            if is_consumers(key):
                self.consumers.departures.on_deadline(key, out)
            else:
                self.membership.on_deadline(key, out)
        return out

    # views

    def describe(self, group_id: str) -> GroupDescription:
        """An unknown group is described as Dead, without error, as Kafka does up to version 5."""
        group = self.core.find(group_id)
        if group is None:
            return GroupDescription(group_id=group_id, state=GroupState.DEAD.value)
        is_stable = group.state is GroupState.STABLE
        return GroupDescription(
            group_id=group_id,
            state=group.state.value,
            protocol_type=group.protocol_type or "",
            protocol=(group.protocol_name or "") if is_stable else "",
            members=_describe_members(group, is_stable=is_stable),
        )

    def count_groups(self) -> Counter[tuple[str, str]]:
        """How many groups of which protocol are in which state, by their names."""
        counts = Counter((CLASSIC, group.state.value) for group in self.core.groups.values())
        counts.update((CONSUMER, group.state.value) for group in self.core.consumer_groups.all())
        return counts

    @property
    def offset_count(self) -> int:
        """Partitions of which a group has an offset."""
        return sum(map(len, self.core.durable.offsets.values()))

    def list_groups(self) -> list[ListedGroup]:
        return [
            ListedGroup(group.group_id, group.protocol_type or "", group.state.value, CLASSIC)
            for group in self.core.groups.values()
        ] + [
            ListedGroup(group.group_id, PROTOCOL_TYPE, group.state.value, CONSUMER)
            for group in self.core.consumer_groups.all()
        ]


def _describe_members(group: ClassicGroup, *, is_stable: bool) -> tuple[MemberDescription, ...]:
    """Metadata and assignment mean something only while the group is stable."""
    return tuple(
        MemberDescription(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            member.metadata_for(group.protocol_name) if is_stable else b"",
            member.assignment if is_stable else b"",
        )
        for member in group.members.values()
    )
