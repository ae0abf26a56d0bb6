"""One consumer group: what its records add up to, and nothing else.

The coordinator changes a group only by records, which it applies at once and stores; so a group
that is loaded elsewhere is the same, and one whose records were refused is made again from those
that were not.
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.groups.consumer.classic_side import ClassicSide
from dataplane.groups.consumer.id_partition import NOTHING, Assignment, IdPartition
from dataplane.groups.consumer.records import (
    CurrentKey,
    CurrentValue,
    GroupEpochKey,
    GroupEpochValue,
    MemberKey,
    MemberValue,
    SubscribedTopicsKey,
    SubscribedTopicsValue,
    TargetEpochKey,
    TargetEpochValue,
    TargetKey,
    TargetValue,
    unpacked,
)
from dataplane.groups.consumer.states import ConsumerGroupState, MemberState, check_move

if TYPE_CHECKING:
    from dataplane.groups.consumer.records import ConsumerGroupKey, ConsumerGroupValue

JOINING: Final = 0
LEAVING: Final = -1
LEAVING_FOR_A_WHILE: Final = -2
"""Member epochs with a meaning of their own; the last is for static members alone."""


class TopicInfo(NamedTuple):
    """What of a topic matters to a group."""

    topic_id: uuid.UUID
    partition_count: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """One member. `assigned` is what it may read, `revoking` what it was asked to give up.

    `previous_epoch` is accepted too, from a member that has not seen its last answer. `classic` is
    there for members that speak the classic protocol, whose generation is the epoch.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str | None = None
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    epoch: int = JOINING
    previous_epoch: int = JOINING
    state: MemberState = MemberState.STABLE
    assigned: Assignment = NOTHING
    revoking: Assignment = NOTHING
    classic: ClassicSide | None = None

    def to_value(self) -> MemberValue:
        return MemberValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topics),
            subscribed_topic_regex=self.regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor,
            classic_member=None if self.classic is None else self.classic.to_value(),
        )

    def with_value(self, value: MemberValue) -> ConsumerMember:
        return dataclasses.replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            assignor=value.server_assignor,
            classic=ClassicSide.from_value(value.classic_member),
        )

    def holding(self, assigned: Assignment) -> ConsumerMember:
        return dataclasses.replace(self, assigned=assigned)

    def has_reached(self, target_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == target_epoch


class ConsumerGroup:
    """`owners` says who holds a partition, assigned or not given up yet: never two."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = ConsumerGroupState.EMPTY
        self.epoch = 0
        self.target_epoch = 0
        self.topics: dict[str, TopicInfo] = {}
        self.members: dict[str, ConsumerMember] = {}
        self.static_members: dict[str, str] = {}
        self.targets: dict[str, Assignment] = {}
        self.owners: dict[IdPartition, str] = {}

    def copy(self) -> ConsumerGroup:
        """Another group that changes by itself; what groups are made of is immutable."""
        other = ConsumerGroup(self.group_id)
        other.state = self.state
        other.epoch = self.epoch
        other.target_epoch = self.target_epoch
        other.topics = self.topics
        other.members = dict(self.members)
        other.static_members = dict(self.static_members)
        other.targets = dict(self.targets)
        other.owners = dict(self.owners)
        return other

    def equals(self, other: ConsumerGroup) -> bool:
        """Whether the same records made both."""
        return (
            (self.epoch, self.target_epoch) == (other.epoch, other.target_epoch)
            and self.topics == other.topics
            and self.members == other.members
            and self.targets == other.targets
        )

    # state

    def settle(self) -> None:
        """Take the state that epochs and members ask for, once a change is complete."""
        if not self.members:
            state = ConsumerGroupState.EMPTY
        elif self.epoch > self.target_epoch:
            state = ConsumerGroupState.ASSIGNING
        elif all(member.has_reached(self.target_epoch) for member in self.members.values()):
            state = ConsumerGroupState.STABLE
        else:
            state = ConsumerGroupState.RECONCILING
        self.move_to(state)

    def move_to(self, state: ConsumerGroupState) -> None:
        check_move(self.group_id, self.state, state)
        self.state = state

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """Who holds the instance id (KIP-345)."""
        return self.members.get(self.static_members.get(instance_id or "", ""))

    def target_of(self, member_id: str) -> Assignment:
        return self.targets.get(member_id, NOTHING)

    def is_free_for(self, member_id: str, partition: IdPartition) -> bool:
        return self.owners.get(partition, member_id) == member_id

    @property
    def is_blank(self) -> bool:
        """Whether nothing of it is stored."""
        return not (self.epoch or self.target_epoch or self.members or self.topics or self.targets)

    # records

    def apply(self, key: ConsumerGroupKey, value: ConsumerGroupValue | None) -> None:
        """Take in one record; None is a tombstone."""
        match key, value:
            case GroupEpochKey(), GroupEpochValue():
                self.epoch = value.epoch
            case GroupEpochKey(), None:
                self.epoch = 0
            case SubscribedTopicsKey(), SubscribedTopicsValue():
                self.topics = {
                    topic.topic_name: TopicInfo(topic.topic_id, topic.num_partitions)
                    for topic in value.topics
                }
            case SubscribedTopicsKey(), None:
                self.topics = {}
            case TargetEpochKey(), TargetEpochValue():
                self.target_epoch = value.assignment_epoch
            case TargetEpochKey(), None:
                self.target_epoch = 0
            case TargetKey(), TargetValue():
                self.targets[key.member_id] = unpacked(value.topic_partitions)
            case TargetKey(), None:
                self.targets.pop(key.member_id, None)
            case MemberKey(), MemberValue():
                self._apply_member(key.member_id, value)
            case MemberKey(), None:
                self._forget(key.member_id)
            case CurrentKey(), CurrentValue():
                self._apply_current(key.member_id, value)
            case CurrentKey(), None:
                self._apply_current(key.member_id, CurrentValue())

    def _apply_member(self, member_id: str, value: MemberValue) -> None:
        known = self.members.get(member_id) or ConsumerMember(member_id=member_id)
        if known.instance_id != value.instance_id:
            self._free_instance(known)
        self.members[member_id] = known.with_value(value)
        if value.instance_id is not None:
            self.static_members[value.instance_id] = member_id

    def _forget(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is None:
            return
        self._release(member)
        self._free_instance(member)

    def _free_instance(self, member: ConsumerMember) -> None:
        instance_id = member.instance_id
        if instance_id is not None and self.static_members.get(instance_id) == member.member_id:
            del self.static_members[instance_id]

    def _apply_current(self, member_id: str, value: CurrentValue) -> None:
        """Compaction may have dropped the member's own record before this one's tombstone."""
        member = self.members.get(member_id)
        if member is None:
            return
        self._release(member)
        member = dataclasses.replace(
            member,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState(value.state),
            assigned=unpacked(value.assigned_partitions),
            revoking=unpacked(value.partitions_pending_revocation),
        )
        self.members[member_id] = member
        for partition in member.assigned | member.revoking:
            self.owners[partition] = member_id

    def _release(self, member: ConsumerMember) -> None:
        for partition in member.assigned | member.revoking:
            if self.owners.get(partition) == member.member_id:
                del self.owners[partition]
