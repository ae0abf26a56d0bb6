"""The two ways in which the coordinator deals out partitions: `uniform` and `range`.

Both are functions of who subscribes to what, how many partitions there are, and who had what; the
same input always gives the same answer.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.groups.consumer.id_partition import NOTHING, Assignment, IdPartition

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping

UNIFORM: Final = "uniform"
RANGE: Final = "range"


class Subscriber(NamedTuple):
    """A member's part of the question. `instance_id`: static members keep their place in order."""

    instance_id: str | None
    topic_ids: frozenset[uuid.UUID]


def assign_uniform(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[uuid.UUID, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """As even as subscriptions allow; a partition moves only if that makes it more even.

    `partition_counts` has every topic that exists, `current` what each member was to have so far.
    """
    subscriptions = {subscriber.topic_ids for subscriber in subscribers.values()}
    if len(subscriptions) <= 1:
        return _spread_over_equals(subscribers, partition_counts, current)
    return _Balance(subscribers, partition_counts, current).found()


def _spread_over_equals(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[uuid.UUID, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Everybody subscribes to the same: each gets the quotient, some one more."""
    if not subscribers:
        return {}
    topic_ids = next(iter(subscribers.values())).topic_ids
    free = {
        IdPartition(topic_id, index)
        for topic_id in topic_ids
        for index in range(partition_counts.get(topic_id, 0))
    }
    quota, larger_shares = divmod(len(free), len(subscribers))
    kept: dict[str, list[IdPartition]] = {}
    for member_id in sorted(subscribers):
        mine = sorted(current.get(member_id, NOTHING) & free)
        share = quota
        if len(mine) > quota and larger_shares:
            larger_shares -= 1
            share += 1
        kept[member_id] = mine[:share]
        free.difference_update(kept[member_id])
    left = sorted(free, reverse=True)
    for mine in kept.values():
        share = quota
        if len(mine) <= quota and larger_shares:
            larger_shares -= 1
            share += 1
        while len(mine) < share:
            mine.append(left.pop())
    return {member_id: frozenset(mine) for member_id, mine in kept.items()}


class _Balance:
    """Members that subscribe to different topics: keep, fill up, then even out pair by pair."""

    def __init__(
        self,
        subscribers: Mapping[str, Subscriber],
        partition_counts: Mapping[uuid.UUID, int],
        current: Mapping[str, Assignment],
    ) -> None:
        self._members_of: dict[uuid.UUID, list[str]] = {}
        for member_id in sorted(subscribers):
            for topic_id in subscribers[member_id].topic_ids:
                if topic_id in partition_counts:
                    self._members_of.setdefault(topic_id, []).append(member_id)
        # Topics that few can read first: the others have more ways to make up for it.
        self._topic_ids = sorted(self._members_of, key=lambda t: (len(self._members_of[t]), t))
        self._counts = partition_counts
        self._load = dict.fromkeys(subscribers, 0)
        self._owned: dict[str, dict[uuid.UUID, set[int]]] = {m: {} for m in subscribers}
        self._keep(current)

    def _keep(self, current: Mapping[str, Assignment]) -> None:
        taken: set[IdPartition] = set()
        for topic_id in self._topic_ids:
            for member_id in self._members_of[topic_id]:
                self._owned[member_id][topic_id] = set()
        for member_id, owned in self._owned.items():
            for part in current.get(member_id, NOTHING):
                topic_id, index = part
                exists = topic_id in owned and index < self._counts[topic_id]
                if exists and part not in taken:
                    taken.add(part)
                    owned[topic_id].add(index)
                    self._load[member_id] += 1
        for topic_id in self._topic_ids:
            self._fill(topic_id, taken)

    def _fill(self, topic_id: uuid.UUID, taken: set[IdPartition]) -> None:
        """Give what nobody has to whoever has least."""
        heap = [(self._load[member_id], member_id) for member_id in self._members_of[topic_id]]
        heapq.heapify(heap)
        for index in range(self._counts[topic_id]):
            if IdPartition(topic_id, index) in taken:
                continue
            load, member_id = heap[0]
            self._owned[member_id][topic_id].add(index)
            self._load[member_id] = load + 1
            heapq.heapreplace(heap, (load + 1, member_id))

    def found(self) -> dict[str, Assignment]:
        # Every move makes the sum of the squared loads smaller, so this comes to an end.
        while any(self._even_out(topic_id) for topic_id in self._topic_ids):
            pass
        return {
            member_id: frozenset(
                IdPartition(topic_id, index) for topic_id, own in owned.items() for index in own
            )
            for member_id, owned in self._owned.items()
        }

    def _even_out(self, topic_id: uuid.UUID) -> bool:
        """Move this topic's partitions from who has most to who has least; whether any moved."""
        members = self._members_of[topic_id]
        has_moved = False
        while True:
            owners = [member_id for member_id in members if self._owned[member_id][topic_id]]
            if not owners:
                return has_moved
            most = max(owners, key=lambda m: (self._load[m], m))
            least = min(members, key=lambda m: (self._load[m], m))
            if self._load[most] - self._load[least] < 2:
                return has_moved
            index = max(self._owned[most][topic_id])
            self._owned[most][topic_id].remove(index)
            self._owned[least][topic_id].add(index)
            self._load[most] -= 1
            self._load[least] += 1
            has_moved = True


def assign_range(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[uuid.UUID, int],
    _current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Each topic cut into ranges over its members in their order.

    Topics with as many partitions and the same members are cut alike, so that joins of their
    records find both sides with one member. Static members are ordered by instance id: a restart
    under another member id moves nothing.
    """
    order = sorted(subscribers, key=lambda m: (subscribers[m].instance_id or m, m))
    given: dict[str, set[IdPartition]] = {member_id: set() for member_id in subscribers}
    members_of: dict[uuid.UUID, list[str]] = {}
    for member_id in order:
        for topic_id in subscribers[member_id].topic_ids:
            members_of.setdefault(topic_id, []).append(member_id)
    for topic_id, members in members_of.items():
        quota, larger_shares = divmod(partition_counts.get(topic_id, 0), len(members))
        start = 0
        for position, member_id in enumerate(members):
            end = start + quota + (position < larger_shares)
            given[member_id].update(IdPartition(topic_id, index) for index in range(start, end))
            start = end
    return {member_id: frozenset(mine) for member_id, mine in given.items()}


KAFKAS_CLASSES: Final = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": UNIFORM,
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": RANGE,
}
"""What `group.consumer.assignors` may call them too."""

ASSIGNORS: Final = {UNIFORM: assign_uniform, RANGE: assign_range}
