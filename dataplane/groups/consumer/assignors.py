"""The two ways in which the coordinator deals out partitions: `uniform` and `range`.

Both are functions of who subscribes to what, how many partitions there are, and who had what; the
same input always gives the same answer.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.groups.consumer.id_partition import NOTHING, Assignment, IdPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIFORM: Final = "uniform"
RANGE: Final = "range"


class Subscriber(NamedTuple):
    """A member's part of the question. `instance_id`: static members keep their place in order."""

    instance_id: str | None
    topics: frozenset[bytes]


def assign_uniform(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[bytes, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """As even as subscriptions allow; a partition moves only if that makes it more even.

    `partition_counts` has every topic that exists, `current` what each member was to have so far.
    """
    subscriptions = {subscriber.topics for subscriber in subscribers.values()}
    if len(subscriptions) <= 1:
        return _spread_over_equals(subscribers, partition_counts, current)
    return _Balance(subscribers, partition_counts, current).found()


def _spread_over_equals(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[bytes, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Everybody subscribes to the same: each gets the quotient, some one more.

    Who keeps everything keeps the very same set: with a thousand members most do, each time.
    """
    if not subscribers:
        return {}
    topics = next(iter(subscribers.values())).topics
    counts = {topic: partition_counts.get(topic, 0) for topic in topics}
    total = sum(counts.values())
    quota, larger_shares = divmod(total, len(subscribers))
    kept: dict[str, Assignment] = {}
    left: list[IdPartition] = []
    for member_id in sorted(subscribers):
        mine = current.get(member_id, NOTHING)
        if not all(part[1] < counts.get(part[0], 0) for part in mine):
            mine = frozenset(part for part in mine if part[1] < counts.get(part[0], 0))
        share = quota
        if len(mine) > quota and larger_shares:
            larger_shares -= 1
            share += 1
        if len(mine) > share:
            ordered = sorted(mine)
            mine = frozenset(ordered[:share])
            left += ordered[share:]
        kept[member_id] = mine
    if sum(map(len, kept.values())) + len(left) < total:
        everything = {
            IdPartition(topic, index) for topic, count in counts.items() for index in range(count)
        }
        left = list(everything.difference(*kept.values()))
    left.sort(reverse=True)
    for member_id, mine in kept.items():
        share = quota
        if len(mine) <= quota and larger_shares:
            larger_shares -= 1
            share += 1
        if len(mine) < share:
            kept[member_id] = mine | {left.pop() for _ in range(share - len(mine))}
    return kept


class _Balance:
    """Members that subscribe to different topics: keep, fill up, then even out pair by pair."""

    def __init__(
        self,
        subscribers: Mapping[str, Subscriber],
        partition_counts: Mapping[bytes, int],
        current: Mapping[str, Assignment],
    ) -> None:
        self._members_of: dict[bytes, list[str]] = {}
        for member_id in sorted(subscribers):
            for topic in subscribers[member_id].topics:
                if topic in partition_counts:
                    self._members_of.setdefault(topic, []).append(member_id)
        # Topics that few can read first: the others have more ways to make up for it.
        self._topics = sorted(self._members_of, key=lambda t: (len(self._members_of[t]), t))
        self._counts = partition_counts
        self._load = dict.fromkeys(subscribers, 0)
        self._owned: dict[str, dict[bytes, set[int]]] = {m: {} for m in subscribers}
        self._keep(current)

    def _keep(self, current: Mapping[str, Assignment]) -> None:
        taken: set[IdPartition] = set()
        for topic in self._topics:
            for member_id in self._members_of[topic]:
                self._owned[member_id][topic] = set()
        for member_id, owned in self._owned.items():
            for part in current.get(member_id, NOTHING):
                topic, index = part
                exists = topic in owned and index < self._counts[topic]
                if exists and part not in taken:
                    taken.add(part)
                    owned[topic].add(index)
                    self._load[member_id] += 1
        for topic in self._topics:
            self._fill(topic, taken)

    def _fill(self, topic: bytes, taken: set[IdPartition]) -> None:
        """Give what nobody has to whoever has least."""
        heap = [(self._load[member_id], member_id) for member_id in self._members_of[topic]]
        heapq.heapify(heap)
        for index in range(self._counts[topic]):
            if IdPartition(topic, index) in taken:
                continue
            load, member_id = heap[0]
            self._owned[member_id][topic].add(index)
            self._load[member_id] = load + 1
            heapq.heapreplace(heap, (load + 1, member_id))

    def found(self) -> dict[str, Assignment]:
        # Every move makes the sum of the squared loads smaller, so this comes to an end.
        while any(self._even_out(topic) for topic in self._topics):
            pass
        return {
            member_id: frozenset(
                IdPartition(topic, index) for topic, own in owned.items() for index in own
            )
            for member_id, owned in self._owned.items()
        }

    def _even_out(self, topic: bytes) -> bool:
        """Move this topic's partitions from who has most to who has least; whether any moved."""
        members = self._members_of[topic]
        has_moved = False
        while True:
            owners = [member_id for member_id in members if self._owned[member_id][topic]]
            if not owners:
                return has_moved
            most = max(owners, key=lambda m: (self._load[m], m))
            least = min(members, key=lambda m: (self._load[m], m))
            if self._load[most] - self._load[least] < 2:
                return has_moved
            index = max(self._owned[most][topic])
            self._owned[most][topic].remove(index)
            self._owned[least][topic].add(index)
            self._load[most] -= 1
            self._load[least] += 1
            has_moved = True


def assign_range(
    subscribers: Mapping[str, Subscriber],
    partition_counts: Mapping[bytes, int],
    _current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Each topic cut into ranges over its members in their order.

    Topics with as many partitions and the same members are cut alike, so that joins of their
    records find both sides with one member. Static members are ordered by instance id: a restart
    under another member id moves nothing.
    """
    order = sorted(subscribers, key=lambda m: (subscribers[m].instance_id or m, m))
    given: dict[str, set[IdPartition]] = {member_id: set() for member_id in subscribers}
    members_of: dict[bytes, list[str]] = {}
    for member_id in order:
        for topic in subscribers[member_id].topics:
            members_of.setdefault(topic, []).append(member_id)
    for topic, members in members_of.items():
        quota, larger_shares = divmod(partition_counts.get(topic, 0), len(members))
        start = 0
        for position, member_id in enumerate(members):
            end = start + quota + (position < larger_shares)
            given[member_id].update(IdPartition(topic, index) for index in range(start, end))
            start = end
    return {member_id: frozenset(mine) for member_id, mine in given.items()}


KAFKAS_CLASSES: Final = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": UNIFORM,
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": RANGE,
}
"""What `group.consumer.assignors` may call them too."""

ASSIGNORS: Final = {UNIFORM: assign_uniform, RANGE: assign_range}
