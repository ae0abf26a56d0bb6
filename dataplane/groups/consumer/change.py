"""A change to one group: every step is a record, applied at once and stored with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.consumer.records import (
    CurrentKey,
    CurrentValue,
    GroupEpochKey,
    GroupEpochValue,
    MemberKey,
    SubscribedTopic,
    SubscribedTopicsKey,
    SubscribedTopicsValue,
    TargetEpochKey,
    TargetEpochValue,
    TargetKey,
    TargetValue,
    encode,
    packed,
)

if TYPE_CHECKING:
    from dataplane.groups.consumer.group import ConsumerGroup, ConsumerMember, TopicInfo
    from dataplane.groups.consumer.id_partition import Assignment
    from dataplane.groups.consumer.records import ConsumerGroupKey, ConsumerGroupValue
    from dataplane.groups.group import ClassicGroup
    from dataplane.groups.records import CoordinatorRecord


class Change:
    """`before` and `after` are records of another kind: a classic group's end, and beginning.

    `successor` is the classic group that `after` begins.
    """

    def __init__(self, group: ConsumerGroup) -> None:
        self.group = group
        self.steps: list[tuple[ConsumerGroupKey, ConsumerGroupValue | None]] = []
        self.before: list[CoordinatorRecord] = []
        self.after: list[CoordinatorRecord] = []
        self.successor: ClassicGroup | None = None

    def records(self) -> list[CoordinatorRecord]:
        steps = (encode(key, value) for key, value in self.steps)
        return [*self.before, *steps, *self.after]

    def _put(self, key: ConsumerGroupKey, value: ConsumerGroupValue | None) -> None:
        self.group.apply(key, value)
        self.steps.append((key, value))

    def set_epoch(self, epoch: int) -> None:
        self._put(GroupEpochKey(group_id=self.group.group_id), GroupEpochValue(epoch=epoch))

    def set_topics(self, topics: dict[str, TopicInfo]) -> None:
        """What the group is subscribed to, and exists."""
        listed = [
            SubscribedTopic(
                topic_id=info.topic_id, topic_name=name, num_partitions=info.partition_count
            )
            for name, info in sorted(topics.items())
        ]
        self._put(
            SubscribedTopicsKey(group_id=self.group.group_id), SubscribedTopicsValue(topics=listed)
        )

    def set_member(self, member: ConsumerMember) -> None:
        """Who the member is and what it subscribes to; what it has is `set_current`'s."""
        key = MemberKey(group_id=self.group.group_id, member_id=member.member_id)
        self._put(key, member.to_value())

    def set_current(self, member: ConsumerMember) -> None:
        key = CurrentKey(group_id=self.group.group_id, member_id=member.member_id)
        value = CurrentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            assigned_partitions=packed(member.assigned),
            partitions_pending_revocation=packed(member.revoking),
        )
        self._put(key, value)

    def set_target(self, member_id: str, target: Assignment) -> None:
        key = TargetKey(group_id=self.group.group_id, member_id=member_id)
        self._put(key, TargetValue(topic_partitions=packed(target)))

    def set_target_epoch(self, epoch: int) -> None:
        key = TargetEpochKey(group_id=self.group.group_id)
        self._put(key, TargetEpochValue(assignment_epoch=epoch))

    def remove_member(self, member_id: str) -> None:
        """Tombstones for all of a member, in Kafka's order."""
        group_id = self.group.group_id
        self._put(CurrentKey(group_id=group_id, member_id=member_id), None)
        self._put(TargetKey(group_id=group_id, member_id=member_id), None)
        self._put(MemberKey(group_id=group_id, member_id=member_id), None)

    def remove_group(self) -> None:
        """Tombstones for everything."""
        for member_id in list(self.group.members):
            self.remove_member(member_id)
        group_id = self.group.group_id
        self._put(TargetEpochKey(group_id=group_id), None)
        self._put(SubscribedTopicsKey(group_id=group_id), None)
        self._put(GroupEpochKey(group_id=group_id), None)
