"""What a group is to do: when its epoch grows, and how its partitions are dealt out for it."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from dataplane.groups.consumer.assignors import ASSIGNORS, Subscriber
from dataplane.groups.consumer.topics import Subscriptions

if TYPE_CHECKING:
    from dataplane.groups.consumer.change import Change
    from dataplane.groups.consumer.group import ConsumerGroup
    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.core import ShardCore


class Dealing:
    """`topics` are the cluster's; `subscriptions` says which of them members mean."""

    def __init__(self, core: ShardCore, topics: TopicCatalogue) -> None:
        self._core = core
        self.topics = topics
        refresh_ms = core.settings.consumer_regex_refresh_interval_ms
        self.subscriptions = Subscriptions(topics, core.clock, refresh_ms=refresh_ms)
        # The version of the topics with which a group's own picture of them was last compared.
        self._compared: dict[str, int] = {}

    def refresh(self, change: Change, *, has_changed: bool) -> None:
        """A new epoch when members or their topics have changed since the last one."""
        group = change.group
        version = self.topics.version
        if has_changed or self._compared.get(group.group_id) != version:
            self._compared[group.group_id] = version
            found = {
                name: info
                for name in self.subscriptions.names_of_all(group)
                if (info := self.topics.get(name)) is not None
            }
            if found != group.topics:
                change.set_topics(found)
                has_changed = True
        if has_changed:
            change.set_epoch(group.epoch + 1)
            self._core.tally.consumer_rebalances += 1

    def assign(self, change: Change) -> None:
        """Deal out all partitions, if that has not been done for the group's epoch.

        Only what changes is stored.
        """
        group = change.group
        if group.epoch <= group.target_epoch:
            return
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

    def forget_group(self, group_id: str) -> None:
        self._compared.pop(group_id, None)

    def clear(self) -> None:
        self.subscriptions.clear()
        self._compared.clear()
