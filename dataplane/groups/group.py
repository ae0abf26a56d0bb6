"""One classic group: its members, its generation, its vote on a protocol.

It keeps its own numbers right and refuses illegal moves; when to move is decided by
`rebalance.py`, `joining.py` and `syncing.py`.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from dataplane.groups.consumer_protocol import PROTOCOL_TYPE, topics_of_all
from dataplane.groups.member import Member
from dataplane.groups.records import GroupMetadataValue
from dataplane.groups.requests import JoinedMember
from dataplane.groups.states import CAN_REBALANCE, GroupState, check_move

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataplane.groups.outcome import Ticket
    from dataplane.groups.requests import Protocol


class ClassicGroup:
    """Soft state: rebuilt from the last stored `GroupMetadataValue` when a shard is loaded.

    `initial_delay_left_ms` is not None during the first rebalance of an empty group, which waits
    for more members even when all known ones have joined.
    """

    def __init__(self, group_id: str, *, now_ms: int) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.state_timestamp_ms = now_ms
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.generation = 0
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        self.pending_members: set[str] = set()
        self.pending_sync: set[str] = set()
        self.initial_delay_left_ms: int | None = None
        self.new_member_added = False
        self.subscribed_topics: frozenset[str] | None = None
        self.awaiting_join_count = 0
        self._supporters: collections.Counter[str] = collections.Counter()

    @classmethod
    def from_value(cls, group_id: str, value: GroupMetadataValue, *, now_ms: int) -> ClassicGroup:
        """The group as stored: Stable with members, else Empty."""
        group = cls(group_id, now_ms=value.current_state_timestamp_ms)
        if value.current_state_timestamp_ms < 0:
            group.state_timestamp_ms = now_ms
        group.protocol_type = value.protocol_type or None
        group.generation = value.generation
        for member_value in value.members:
            member = Member.from_value(member_value, value.protocol)
            group._enter(member)
        if group.members:
            group.state = GroupState.STABLE
            group.protocol_name = value.protocol
            group.leader = value.leader
        group.refresh_subscriptions()
        return group

    @classmethod
    def without_leader(
        cls, group_id: str, members: Iterable[Member], *, generation: int, now_ms: int
    ) -> ClassicGroup:
        """What a consumer group becomes when only members of the classic protocol are left.

        Stable, with the assignments that members have; a leader comes with the next generation.
        """
        group = cls(group_id, now_ms=now_ms)
        group.protocol_type = PROTOCOL_TYPE
        group.generation = generation
        for member in members:
            group._enter(member)
        group.protocol_name = group.select_protocol()
        group.state = GroupState.STABLE
        group.refresh_subscriptions()
        return group

    def empty_copy(self) -> ClassicGroup:
        """Another empty group in the same generation, empty since the same moment."""
        group = ClassicGroup(self.group_id, now_ms=self.state_timestamp_ms)
        group.protocol_type = self.protocol_type
        group.generation = self.generation
        group.refresh_subscriptions()
        return group

    def to_value(self, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
        """What is stored for this generation, with the assignment that is about to hold."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol_name,
            leader=self.leader,
            current_state_timestamp_ms=self.state_timestamp_ms,
            members=[
                member.to_value(self.protocol_name, assignments.get(member.member_id, b""))
                for member in self.members.values()
            ],
        )

    # state

    def move_to(self, state: GroupState, *, now_ms: int) -> None:
        check_move(self.group_id, self.state, state)
        self.state = state
        self.state_timestamp_ms = now_ms

    @property
    def can_rebalance(self) -> bool:
        return self.state in CAN_REBALANCE

    @property
    def is_consumer_group(self) -> bool:
        return self.protocol_type == PROTOCOL_TYPE

    # members

    @property
    def all_joined(self) -> bool:
        """Whether every known member has rejoined and nobody holds an id without having joined."""
        return not self.pending_members and self.awaiting_join_count == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def add_member(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self._enter(member)
        if self.leader is None:
            self.leader = member.member_id
        self.pending_members.discard(member.member_id)

    def _enter(self, member: Member) -> None:
        self.members[member.member_id] = member
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        self._supporters.update(member.protocol_names)

    def remove_member(self, member_id: str) -> None:
        """Forget a member or a pending id; the leadership goes to any other member."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self.take_join_ticket(member)
            self._supporters.subtract(member.protocol_names)
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        self.pending_members.discard(member_id)
        self.pending_sync.discard(member_id)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def park_join(self, member: Member, ticket: Ticket) -> None:
        """The member has joined and waits for the next generation."""
        if member.join_ticket is None:
            self.awaiting_join_count += 1
        member.join_ticket = ticket

    def take_join_ticket(self, member: Member) -> Ticket | None:
        """What the member waits with, which is to be answered now."""
        ticket = member.join_ticket
        if ticket is not None:
            self.awaiting_join_count -= 1
            member.join_ticket = None
        return ticket

    def rename_static_member(self, instance_id: str, new_member_id: str) -> Member:
        """Give the member behind an instance id a new member id (KIP-345); its order is kept."""
        old_member_id = self.static_members[instance_id]
        member = self.members[old_member_id]
        member.member_id = new_member_id
        self.members = {known.member_id: known for known in self.members.values()}
        self.static_members[instance_id] = new_member_id
        if self.leader == old_member_id:
            self.leader = new_member_id
        if old_member_id in self.pending_sync:
            self.pending_sync.discard(old_member_id)
            self.pending_sync.add(new_member_id)
        return member

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader has rejoined; False when nobody has."""
        if self.leader is not None and self.members[self.leader].join_ticket is not None:
            return True
        for member in self.members.values():
            if member.join_ticket is not None:
                self.leader = member.member_id
                return True
        return False

    # protocols

    def candidate_protocols(self) -> set[str]:
        """Protocols that every member supports."""
        everybody = len(self.members)
        return {name for name, count in self._supporters.items() if count == everybody > 0}

    def set_protocols(self, member: Member, protocols: tuple[Protocol, ...]) -> None:
        """Take over what the member supports now."""
        self._supporters.subtract(member.protocol_names)
        member.protocols = protocols
        self._supporters.update(member.protocol_names)
        self._supporters += collections.Counter()  # forget names that nobody supports

    def supports(self, protocol_type: str, protocols: tuple[Protocol, ...]) -> bool:
        """Whether a member with these protocols could be in the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if self.protocol_type != protocol_type:
            return False
        if not self.members:
            return bool(protocols)
        candidates = self.candidate_protocols()
        return any(protocol.name in candidates for protocol in protocols)

    def select_protocol(self) -> str:
        """The protocol with most votes among those that all support; ties go to the first named."""
        candidates = self.candidate_protocols()
        votes = collections.Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def start_generation(self, *, now_ms: int) -> None:
        """The join phase is over: next generation, waiting for an assignment unless empty."""
        self.generation += 1
        self.pending_sync.clear()
        self.initial_delay_left_ms = None
        if self.members:
            self.protocol_name = self.select_protocol()
            self.move_to(GroupState.COMPLETING_REBALANCE, now_ms=now_ms)
        else:
            self.protocol_name = None
            self.move_to(GroupState.EMPTY, now_ms=now_ms)
        self.refresh_subscriptions()

    def refresh_subscriptions(self) -> None:
        """Recompute the subscribed topics; None when they cannot be known."""
        if not self.is_consumer_group:
            self.subscribed_topics = None
        elif not self.members:
            self.subscribed_topics = frozenset()
        elif self.protocol_name is None:
            self.subscribed_topics = None
        else:
            self.subscribed_topics = topics_of_all(
                member.metadata_for(self.protocol_name) for member in self.members.values()
            )

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """What the leader is given to assign work: every member with its metadata."""
        return tuple(
            JoinedMember(
                member.member_id, member.group_instance_id, member.metadata_for(self.protocol_name)
            )
            for member in self.members.values()
        )
