"""Where every replica is while a plan is made: brokers and partitions by index, loads kept up.

Every change goes through `move` or `lead`, so loads, holdings and the bound on changed
partitions cannot come apart.
"""

from collections import Counter
from collections.abc import Sequence

from controlplane.reassignments.planner.types import Basis, Broker, Partition, Role


class Placement:
    """Mutable. `partitions` sorted by their TP; a broker that is nowhere described is drained.

    Attributes:
        weight: a broker's share of bytes and replicas relative to the others; their mean is 1.
        loads: bytes on each broker, or zeros where sizes are unknown.
        counts: replicas on each broker; `leads`: partitions that prefer it as leader.
    """

    def __init__(
        self, partitions: Sequence[Partition], brokers: Sequence[Broker], *, changes_max: int | None
    ) -> None:
        given = {broker.id: broker for broker in brokers}
        named = {broker for part in partitions for broker in part.replicas}
        self.brokers = [
            given.get(id_) or Broker(id=id_, role=Role.DRAIN, fixed_bytes=None)
            for id_ in sorted(named | set(given))
        ]
        index = {broker.id: i for i, broker in enumerate(self.brokers)}
        self.partitions = partitions
        self.targets = [i for i, b in enumerate(self.brokers) if b.role is Role.TARGET]
        self.racks = [broker.rack for broker in self.brokers]
        self.basis = basis_of(partitions, [self.brokers[i] for i in self.targets])
        by_bytes = self.basis is Basis.BYTES
        self.sizes = [(part.size_bytes or 0) if by_bytes else 0 for part in partitions]
        self.replicas = [[index[broker] for broker in part.replicas] for part in partitions]
        self.original = [tuple(replicas) for replicas in self.replicas]
        self.held: list[set[int]] = [set() for _ in self.brokers]
        self.loads = [(b.fixed_bytes or 0) if by_bytes else 0 for b in self.brokers]
        self.counts = [broker.fixed_replicas for broker in self.brokers]
        self.leads = [broker.fixed_leaders for broker in self.brokers]
        for number, replicas in enumerate(self.replicas):
            self.leads[replicas[0]] += 1
            for broker in replicas:
                self.held[broker].add(number)
                self.loads[broker] += self.sizes[number]
                self.counts[broker] += 1
        self.weight = _weights(self.brokers, self.targets)
        self.changes_max = len(partitions) if changes_max is None else changes_max
        self.changed: set[int] = set()
        self.refused: set[int] = set()

    def may_change(self, number: int) -> bool:
        """False when this would be one changed partition too many; that is remembered."""
        if number in self.changed or len(self.changed) < self.changes_max:
            return True
        self.refused.add(number)
        return False

    def move(self, number: int, source: int, target: int) -> None:
        """Put the replica on `source` to `target`, at the same place in the order."""
        replicas = self.replicas[number]
        place = replicas.index(source)
        replicas[place] = target
        size = self.sizes[number]
        self.held[source].discard(number)
        self.held[target].add(number)
        self.loads[source] -= size
        self.loads[target] += size
        self.counts[source] -= 1
        self.counts[target] += 1
        if place == 0:
            self.leads[source] -= 1
            self.leads[target] += 1
        self._note(number)

    def lead(self, number: int, broker: int) -> None:
        """Make a broker that holds the partition its preferred leader; no data moves."""
        replicas = self.replicas[number]
        place = replicas.index(broker)
        self.leads[replicas[0]] -= 1
        self.leads[broker] += 1
        replicas[0], replicas[place] = broker, replicas[0]
        self._note(number)

    def restore(self, number: int) -> None:
        """Put the partition back to where the plan found it, in the same order."""
        before, now = self.original[number], list(self.replicas[number])
        left = [broker for broker in before if broker not in now]
        for source in now:
            if source not in before:
                self.move(number, source, left.pop())
        if self.replicas[number][0] != before[0]:
            self.lead(number, before[0])
        self.replicas[number] = list(before)
        self.changed.discard(number)

    def _note(self, number: int) -> None:
        if tuple(self.replicas[number]) == self.original[number]:
            self.changed.discard(number)
        else:
            self.changed.add(number)

    def others_by_rack(self, number: int, broker: int) -> Counter[str | None]:
        """Racks of the partition's replicas other than the one on `broker`."""
        racks = self.racks
        return Counter([racks[other] for other in self.replicas[number] if other != broker])

    def blocked_racks(self, number: int, broker: int) -> set[str | None]:
        """Racks to which this replica may not go, because its partition would be less spread."""
        racks = self.racks
        own = racks[broker]
        others = [racks[other] for other in self.replicas[number] if other != broker]
        mine = others.count(own)
        return {rack for rack in others if rack != own and others.count(rack) > mine}

    def may_move(self, number: int, source: int, target: int) -> bool:
        """Not twice on a broker, and no rack spread made worse."""
        return (
            target not in self.replicas[number]
            and self.racks[target] not in self.blocked_racks(number, source)
            and self.may_change(number)
        )

    def rack_violations(self) -> list[int]:
        """Per broker, its replicas beside another of the same partition in one rack."""
        found = [0] * len(self.brokers)
        if len(set(self.racks)) < 2:
            return found
        racks = self.racks
        for replicas in self.replicas:
            own = [racks[broker] for broker in replicas]
            if len(set(own)) < len(own):
                for broker, rack in zip(replicas, own, strict=True):
                    found[broker] += own.count(rack) > 1
        return found


def basis_of(partitions: Sequence[Partition], targets: Sequence[Broker]) -> Basis:
    known = all(part.size_bytes is not None for part in partitions) and all(
        broker.fixed_bytes is not None for broker in targets
    )
    return Basis.BYTES if known else Basis.REPLICAS


def _weights(brokers: Sequence[Broker], targets: Sequence[int]) -> list[float]:
    capacities = [brokers[i].capacity_bytes for i in targets]
    if not capacities or any(not capacity for capacity in capacities):
        return [1.0] * len(brokers)
    mean = sum(capacity or 0 for capacity in capacities) / len(capacities)
    return [(broker.capacity_bytes or mean) / mean for broker in brokers]
