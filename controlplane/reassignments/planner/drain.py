"""The two goals that come first: nothing stays on a drained broker, racks are kept apart."""

from collections.abc import Callable

from controlplane.reassignments.planner.coldest import ColdestFirst, Key
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import Role, UnplannableError


def drain(placement: Placement) -> None:
    """Replace every replica on a drained broker, the largest first, each where the load is least.

    Raises:
        UnplannableError: a partition has more replicas than there are brokers for them.
    """
    leaving = [
        number
        for number, replicas in enumerate(placement.replicas)
        if any(placement.brokers[broker].role is Role.DRAIN for broker in replicas)
    ]
    _check_enough_brokers(placement, leaving)
    cold = ColdestFirst(placement.targets, by_load(placement))
    for number in sorted(leaving, key=lambda number: (-placement.sizes[number], number)):
        if not placement.may_change(number):
            continue
        for source in list(placement.replicas[number]):
            if placement.brokers[source].role is Role.DRAIN:
                target = least_shared(placement, number, source, cold)
                placement.move(number, source, target)
                cold.update(target)


def spread_over_racks(placement: Placement) -> bool:
    """Move replicas that share a rack to one where fewer are. True when any moved."""
    racks = {placement.racks[target] for target in placement.targets}
    if len(racks) < 2:
        return False
    cold = ColdestFirst(placement.targets, by_load(placement))
    moved = False
    for number, replicas in enumerate(placement.replicas):
        if len({placement.racks[broker] for broker in replicas}) == len(replicas):
            continue
        while _improved(placement, number, cold, racks):
            moved = True
    return moved


def _improved(
    placement: Placement, number: int, cold: ColdestFirst, racks: set[str | None]
) -> bool:
    """Move the replica that shares most, a follower before the leader, where fewest are."""
    replicas = placement.replicas[number]
    order = sorted(
        (broker for broker in replicas if placement.brokers[broker].role is Role.TARGET),
        key=lambda b: (b == replicas[0], -placement.loads[b], -placement.counts[b], b),
    )
    for source in order:
        others = placement.others_by_rack(number, source)
        mine = others[placement.racks[source]]
        better = {rack for rack in racks if others[rack] < mine}
        if not better:
            continue
        for target in cold:
            if placement.racks[target] in better and placement.may_move(number, source, target):
                placement.move(number, source, target)
                cold.update(source)
                cold.update(target)
                return True
    return False


def least_shared(placement: Placement, number: int, source: int, cold: ColdestFirst) -> int:
    """The least loaded target among those in whose rack the fewest other replicas are."""
    others = placement.others_by_rack(number, source)
    best, best_shared = -1, len(others) + len(placement.replicas[number])
    for target in cold:
        shared = others[placement.racks[target]]
        if shared < best_shared and target not in placement.replicas[number]:
            best, best_shared = target, shared
            if shared == 0:
                break
    return best


def _check_enough_brokers(placement: Placement, leaving: list[int]) -> None:
    for number in leaving:
        replicas = placement.replicas[number]
        kept = sum(placement.brokers[broker].role is Role.KEEP for broker in replicas)
        if len(replicas) - kept > len(placement.targets):
            tp = placement.partitions[number].tp
            raise UnplannableError(
                f"{tp.topic}-{tp.partition} has {len(replicas)} replicas, but only"
                f" {len(placement.targets)} target brokers were given"
            )


def by_load(placement: Placement) -> Callable[[int], Key]:
    def key(broker: int) -> Key:
        weight = placement.weight[broker]
        return placement.loads[broker] / weight, placement.counts[broker] / weight

    return key
