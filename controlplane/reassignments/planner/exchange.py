"""Two replicas change places where no single move helps: a large one for a smaller one.

The search is bounded: of each broker that is out of its band, the largest `PARTITIONS_MAX`
partitions, with each of at most `BROKERS_MAX` other brokers, and there `NEIGHBOURS_MAX`
partitions around the size that would fit best.
"""

from bisect import bisect_left

from controlplane.reassignments.planner.balance import Measure, bytes_of
from controlplane.reassignments.planner.placement import Placement

PARTITIONS_MAX = 32
BROKERS_MAX = 16
NEIGHBOURS_MAX = 8

BySize = list[tuple[int, int]]


def exchange_for_bytes(placement: Placement) -> bool:
    """One exchange for each broker that is out of its band. True when any was made."""
    measure = bytes_of(placement)
    band = measure.band
    sorted_held: dict[int, BySize] = {}
    done = False
    for broker in sorted(placement.targets, key=lambda b: (-measure.of(b), b)):
        if measure.of(broker) > band.high:
            partners = sorted(placement.targets, key=lambda b: (measure.of(b), b))
            pairs = [(broker, partner) for partner in partners[:BROKERS_MAX]]
        elif measure.of(broker) < band.low:
            partners = sorted(placement.targets, key=lambda b: (-measure.of(b), b))
            pairs = [(partner, broker) for partner in partners[:BROKERS_MAX]]
        else:
            continue
        done |= any(_exchange(placement, measure, *pair, sorted_held) for pair in pairs)
    return done


def _exchange(
    placement: Placement,
    measure: Measure,
    source: int,
    target: int,
    sorted_held: dict[int, BySize],
) -> bool:
    here, there = measure.of(source), measure.of(target)
    if source == target or not measure.band.wants(here, there):
        return False
    need = measure.band.need(here, there) * placement.weight[source]
    offered = _by_size(placement, source, sorted_held)
    wanted = _by_size(placement, target, sorted_held)
    for size, number in reversed(offered[-PARTITIONS_MAX:]):
        at = bisect_left(wanted, (max(int(size - need), 0), -1))
        nearby = wanted[max(at - NEIGHBOURS_MAX // 2, 0) : at + NEIGHBOURS_MAX // 2]
        for other_size, other in nearby:
            more = size - other_size
            if more <= 0 or not measure.brings_nearer(source, target, more):
                continue
            if _may_change_places(placement, number, source, other, target):
                placement.move(number, source, target)
                placement.move(other, target, source)
                sorted_held.pop(source)
                sorted_held.pop(target)
                return True
    return False


def _may_change_places(
    placement: Placement, number: int, source: int, other: int, target: int
) -> bool:
    """Both moves are allowed, also by the bound on changed partitions."""
    if not (
        placement.may_move(number, source, target) and placement.may_move(other, target, source)
    ):
        return False
    new = len({number, other} - placement.changed)
    if len(placement.changed) + new <= placement.changes_max:
        return True
    placement.refused.update({number, other} - placement.changed)
    return False


def _by_size(placement: Placement, broker: int, sorted_held: dict[int, BySize]) -> BySize:
    if broker not in sorted_held:
        sorted_held[broker] = sorted((placement.sizes[p], p) for p in placement.held[broker])
    return sorted_held[broker]
