"""Changes that later ones made needless are taken back, so that every one left helps.

A partition goes back to where it was when no goal is worse for it, in the order of the goals.
"""

from collections.abc import Iterable, Sequence

from controlplane.reassignments.planner.balance import Measure, bytes_of, replicas_of
from controlplane.reassignments.planner.leaders import led_bytes
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import (
    LEADER_BYTES_TOLERANCE,
    LEADERS_TOLERANCE,
    Role,
)

Band = tuple[float, float]
ROUNDING = 1e-12
"""A difference of squares that is smaller, by share, is none."""


def prune_moves(placement: Placement) -> bool:
    """Take back moves of data. True when any was."""
    measures = (bytes_of(placement), replicas_of(placement))
    pruned = False
    for number in sorted(placement.changed, key=lambda p: (-placement.sizes[p], p)):
        before, now = placement.original[number], placement.replicas[number]
        if set(before) == set(now) or not _may_return(placement, number):
            continue
        size = placement.sizes[number]
        worse = (
            _shared_pairs(placement, before) - _shared_pairs(placement, now),
            _more_outside(placement, measures[0], before, now, size),
            _more_outside(placement, measures[1], before, now, 1),
        )
        if worse <= (0, 0, 0):
            placement.restore(number)
            pruned = True
    return pruned


def prune_orders(placement: Placement) -> bool:
    """Take back other orders of the same replicas. True when any was."""
    led = led_bytes(placement)
    targets = placement.targets
    number_band = _around([placement.leads[b] for b in targets], LEADERS_TOLERANCE)
    bytes_band = _around([led[b] for b in targets], LEADER_BYTES_TOLERANCE)
    pruned = False
    for number in sorted(placement.changed):
        before, now = placement.original[number], placement.replicas[number]
        if set(before) != set(now):
            continue
        old, new, size = before[0], now[0], placement.sizes[number]
        if old != new:
            by_number = _shift(placement.leads, new, old, 1, number_band)
            by_bytes = _shift(led, new, old, size, bytes_band)
            if (by_number, by_bytes) > (0, 0):
                continue
            led[old] += size
            led[new] -= size
        placement.restore(number)
        pruned = True
    return pruned


def _may_return(placement: Placement, number: int) -> bool:
    return all(
        placement.brokers[broker].role is not Role.DRAIN for broker in placement.original[number]
    )


def _shared_pairs(placement: Placement, replicas: Iterable[int]) -> int:
    """Twice the pairs of replicas in one rack."""
    racks = [placement.racks[broker] for broker in replicas]
    return sum(racks.count(rack) - 1 for rack in racks)


def _more_outside(
    placement: Placement, measure: Measure, before: Sequence[int], now: Sequence[int], amount: int
) -> float:
    """How much the squared distances from the band grow by going back; negative is better."""
    more, largest = 0.0, 0.0
    for brokers, signed in ((set(before) - set(now), amount), (set(now) - set(before), -amount)):
        for broker in sorted(brokers):
            if placement.brokers[broker].role is not Role.TARGET:
                continue
            load = measure.of(broker)
            changed = load + signed / placement.weight[broker]
            band, weight = measure.band, placement.weight[broker]
            was = weight * _square(load, band.low, band.high)
            becomes = weight * _square(changed, band.low, band.high)
            more += becomes - was
            largest = max(largest, becomes, was)
    return more if abs(more) > largest * ROUNDING else 0.0


def _shift(loads: Sequence[int], giver: int, taker: int, amount: int, band: Band) -> float:
    return (
        _square(loads[giver] - amount, *band)
        + _square(loads[taker] + amount, *band)
        - _square(loads[giver], *band)
        - _square(loads[taker], *band)
    )


def _around(loads: Sequence[int], tolerance: float) -> Band:
    level = sum(loads) / len(loads)
    return level * (1 - tolerance), level * (1 + tolerance)


def _square(load: float, low: float, high: float) -> float:
    outside = max(load - high, low - load, 0.0)
    return outside * outside
