"""Another replication factor: replicas are added and taken away, and none moves.

A replica is added in the rack where the partition has fewest, on the broker with the least load;
one is taken from a broker that is down, else where it is out of sync, else where the rack has
another, else where the load is most. The preferred leader stays while it lives and is in sync.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from controlplane.gateway.types import TP
from controlplane.reassignments.planner.types import (
    Broker,
    Limit,
    Partition,
    Replicas,
    UnplannableError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """The partitions that change, with their new replicas, and what is left undone."""

    wanted: Mapping[TP, Replicas]
    limits: tuple[Limit, ...]


def change_factor(
    partitions: Iterable[Partition],
    brokers: Sequence[Broker],
    factor: int,
    *,
    in_sync: Mapping[TP, Collection[int]],
    changes_max: int | None = None,
) -> Resize:
    """Every partition with `factor` replicas. The same input gives the same plan.

    `brokers` are the live ones; `in_sync` is the ISR by partition: who is not named there counts as
    out of sync.

    Raises:
        UnplannableError: there are fewer live brokers.
    """
    if factor > len(brokers):
        raise UnplannableError(
            f"a replication factor of {factor} needs as many live brokers, and there are"
            f" {len(brokers)}"
        )
    rows = sorted(partitions, key=lambda part: (-(part.size_bytes or 0), part.tp))
    loads = _Loads(rows, brokers)
    wanted: dict[TP, Replicas] = {}
    left = 0
    for part in rows:
        if len(part.replicas) == factor:
            continue
        if changes_max is not None and len(wanted) >= changes_max:
            left += 1
            continue
        wanted[part.tp] = _resized(part, factor, loads, in_sync.get(part.tp, ()))
    limits = []
    if left:
        text = (
            f"A plan changes at most {changes_max} partitions, the largest first; {left} are left"
            " for the next one."
        )
        limits.append(Limit(code="partitions-bound", text=text))
    if any(part.size_bytes is None for part in rows):
        text = "Some sizes are unknown: they count as empty, and replicas by number instead."
        limits.append(Limit(code="bytes-unknown", text=text))
    return Resize(wanted=dict(sorted(wanted.items())), limits=tuple(limits))


class _Loads:
    """What every live broker has while the plan is made."""

    def __init__(self, rows: Iterable[Partition], brokers: Sequence[Broker]) -> None:
        self.racks = {broker.id: broker.rack for broker in brokers}
        self.bytes = {broker.id: broker.fixed_bytes or 0 for broker in brokers}
        self.replicas = {broker.id: broker.fixed_replicas for broker in brokers}
        for part in rows:
            for broker in part.replicas:
                self.note(broker, part.size_bytes or 0)

    def note(self, broker: int, size_bytes: int, *, replicas: int = 1) -> None:
        """One that is down is not counted."""
        if broker in self.racks:
            self.bytes[broker] += size_bytes * replicas
            self.replicas[broker] += replicas

    def of(self, broker: int) -> tuple[int, int]:
        return self.bytes.get(broker, 0), self.replicas.get(broker, 0)


def _resized(part: Partition, factor: int, loads: _Loads, in_sync: Collection[int]) -> Replicas:
    replicas, size = list(part.replicas), part.size_bytes or 0
    while len(replicas) < factor:
        broker = _to_add(replicas, loads)
        replicas.append(broker)
        loads.note(broker, size)
    while len(replicas) > factor:
        broker = _to_remove(replicas, loads, in_sync)
        replicas.remove(broker)
        loads.note(broker, size, replicas=-1)
    return tuple(replicas)


def _to_add(replicas: Sequence[int], loads: _Loads) -> int:
    in_rack = Counter(loads.racks[broker] for broker in replicas if broker in loads.racks)
    free = [broker for broker in loads.racks if broker not in replicas]
    return min(free, key=lambda each: (in_rack[loads.racks[each]], *loads.of(each), each))


def _to_remove(replicas: Sequence[int], loads: _Loads, in_sync: Collection[int]) -> int:
    """The last place of the order goes before the first where all else is equal."""
    in_rack = Counter(loads.racks[broker] for broker in replicas if broker in loads.racks)

    def worth(place: int) -> tuple[bool, bool, bool, int, int, int, int]:
        broker = replicas[place]
        lives = broker in loads.racks
        of_bytes, of_replicas = loads.of(broker)
        shared = in_rack[loads.racks[broker]] if lives else 0
        return lives, broker in in_sync, place == 0, -shared, -of_bytes, -of_replicas, -place

    return replicas[min(range(len(replicas)), key=worth)]
