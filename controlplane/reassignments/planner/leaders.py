"""Preferred leaders: by number, then by the bytes they lead. Replicas change order, no data moves.

Brokers are nodes; an edge goes from a partition's preferred leader to each broker that could lead
it instead. A broker with too many gives one along a path to a broker with at least two fewer: when
no such path is left, no order of the replicas spreads leaders more evenly.
"""

from bisect import bisect_left
from collections import deque
from heapq import heappop, heappush
from itertools import pairwise

from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import (
    LEADER_BYTES_TOLERANCE,
    LEADERS_TOLERANCE,
    Basis,
)

EXCHANGES_MAX = 64
"""Exchanges of leaders that are looked for between two brokers, in each round."""


class Leaders:
    """Who could lead what instead; partitions led by a broker that is no target are left alone.

    For each pair of brokers a heap of partitions, those that change anyhow first. What is out of
    date in it is dropped when it comes to the top.
    """

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._edges: dict[tuple[int, int], list[tuple[bool, int]]] = {}
        self._targets = set(placement.targets)
        for number in range(len(placement.replicas)):
            self._connect(number)
        total = sum(placement.leads[b] for b in self._targets)
        self.level = total / max(len(self._targets), 1)
        self.slack = self.level * LEADERS_TOLERANCE

    def _connect(self, number: int) -> None:
        leader, *followers = self._placement.replicas[number]
        if leader in self._targets:
            row = (number not in self._placement.changed, number)
            for follower in followers:
                if follower in self._targets:
                    heappush(self._edges.setdefault((leader, follower), []), row)

    def next_from(self, source: int, target: int) -> int | None:
        """A partition that `source` leads and `target` could."""
        heap = self._edges.get((source, target))
        while heap:
            number = heap[0][1]
            if self._placement.replicas[number][0] == source:
                return number
            heappop(heap)
        return None

    def all_from(self, source: int, target: int) -> list[int]:
        heap = self._edges.get((source, target), [])
        return sorted({row[1] for row in heap if self._placement.replicas[row[1]][0] == source})

    def transfer(self, number: int, target: int) -> None:
        self._placement.lead(number, target)
        self._connect(number)

    def wants(self, source: int, target: int) -> bool:
        """Out of the band, and at least two apart: one given makes both better."""
        leads = self._placement.leads
        outside = leads[source] > self.level + self.slack or leads[target] < self.level - self.slack
        return outside and leads[source] - leads[target] >= 2

    def give(self, source: int, target: int) -> bool:
        """One partition's leadership; False when none may change any more."""
        chosen = self.next_from(source, target)
        if chosen is None or not self._placement.may_change(chosen):
            return False
        self.transfer(chosen, target)
        return True

    def path(self, source: int) -> list[int]:
        """The shortest way to a broker that should have one more; empty when there is none."""
        reached = {source: source}
        queue = deque([source])
        targets = self._placement.targets
        while queue:
            broker = queue.popleft()
            for target in targets:
                if target in reached or self.next_from(broker, target) is None:
                    continue
                reached[target] = broker
                if self.wants(source, target):
                    return _walk(reached, target)
                queue.append(target)
        return []


def balance_leaders(placement: Placement) -> bool:
    """True when any partition has another preferred leader now."""
    leaders = Leaders(placement)
    changed = _directly(placement, leaders)
    for source in _most_first(placement):
        while path := leaders.path(source):
            if not all(leaders.give(a, b) for a, b in pairwise(path)):
                break
            changed = True
    return changed


def balance_leader_bytes(placement: Placement) -> bool:
    """Exchange leaders of two brokers, so that numbers stay. True when any were."""
    if placement.basis is not Basis.BYTES:
        return False
    fixed = [placement.brokers[b].fixed_leader_bytes for b in placement.targets]
    if not placement.targets or any(led is None for led in fixed):
        return False
    leaders = Leaders(placement)
    led = led_bytes(placement)
    level = sum(led[b] for b in placement.targets) / len(placement.targets)
    slack = level * LEADER_BYTES_TOLERANCE
    changed = False
    for source in sorted(placement.targets, key=lambda b: (-led[b], b)):
        for target in sorted(placement.targets, key=lambda b: (led[b], b)):
            if led[source] <= level + slack and led[target] >= level - slack:
                break
            if led[source] - led[target] <= slack:
                break
            changed |= _exchange_leaders(
                placement, leaders, (source, target), led, (level - slack, level + slack)
            )
    return changed


def _exchange_leaders(
    placement: Placement,
    leaders: Leaders,
    pair: tuple[int, int],
    led: list[int],
    band: tuple[float, float],
) -> bool:
    """From the first of the pair to the second, until both lead bytes within the band."""
    (source, target), (low, high) = pair, band
    sizes = placement.sizes
    offered = sorted(leaders.all_from(source, target), key=lambda p: (-sizes[p], p))
    wanted = sorted((sizes[p], p) for p in leaders.all_from(target, source))
    changed = False
    for number in offered[:EXCHANGES_MAX]:
        gap = led[source] - led[target]
        if not wanted or gap <= (high - low) / 2:
            break
        if led[source] <= high and led[target] >= low:
            break
        at = min(bisect_left(wanted, (sizes[number] - gap // 2, -1)), len(wanted) - 1)
        other_size, other = wanted[at]
        more = sizes[number] - other_size
        if not 0 < more < gap or not _both_may_change(placement, number, other):
            continue
        leaders.transfer(number, target)
        leaders.transfer(other, source)
        del wanted[at]
        led[source] -= more
        led[target] += more
        changed = True
    return changed


def _both_may_change(placement: Placement, one: int, other: int) -> bool:
    new = {one, other} - placement.changed
    if len(placement.changed) + len(new) <= placement.changes_max:
        return True
    placement.refused.update(new)
    return False


def _directly(placement: Placement, leaders: Leaders) -> bool:
    """From those with most to those with fewest, where a partition is held by both."""
    changed = False
    for source in _most_first(placement):
        for target in reversed(_most_first(placement)):
            while leaders.wants(source, target) and leaders.give(source, target):
                changed = True
    return changed


def _most_first(placement: Placement) -> list[int]:
    return sorted(placement.targets, key=lambda b: (-placement.leads[b], b))


def _walk(reached: dict[int, int], target: int) -> list[int]:
    path = [target]
    while reached[path[0]] != path[0]:
        path.insert(0, reached[path[0]])
    return path


def led_bytes(placement: Placement) -> list[int]:
    led = [broker.fixed_leader_bytes or 0 for broker in placement.brokers]
    for replicas, size in zip(placement.replicas, placement.sizes, strict=True):
        led[replicas[0]] += size
    return led


def leaders_stuck(placement: Placement) -> list[int]:
    """Targets that are out of the band, and more than one from the level."""
    level = sum(placement.leads[b] for b in placement.targets) / max(len(placement.targets), 1)
    slack = max(level * LEADERS_TOLERANCE, 1)
    return [b for b in placement.targets if abs(placement.leads[b] - level) > slack]
