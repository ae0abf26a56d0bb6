"""Everything off one broker, and nothing else: what another broker can hold goes there.

Unlike a rebalance it moves no more than it has to, and a partition that cannot leave does not keep
the others from leaving: its preferred leader is another of its replicas, and it is named.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from controlplane.gateway.types import TP
from controlplane.reassignments.planner.coldest import ColdestFirst
from controlplane.reassignments.planner.drain import by_load, least_shared
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import (
    Basis,
    Broker,
    Limit,
    Partition,
    Replicas,
    Role,
    UnplannableError,
)

NAMED = 5
"""Partitions that a limit names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evacuation:
    """The plan.

    Attributes:
        wanted: the partitions that change, with their new replicas.
        stays: partitions of which the broker keeps a replica; whose only reachable copy is there.
    """

    wanted: Mapping[TP, Replicas]
    basis: Basis
    stays: tuple[TP, ...]
    limits: tuple[Limit, ...]


def evacuate(
    partitions: Iterable[Partition],
    brokers: Sequence[Broker],
    leaving: int,
    *,
    only_there: Collection[TP] = (),
    changes_max: int | None = None,
) -> Evacuation:
    """Where what `leaving` holds should be: fewest in a rack first, then where the load is least.

    `brokers` are the live ones; `only_there` are partitions without a leader, which nobody can copy
    from; they stay. The largest partitions are placed first. The same input gives the same plan.

    Raises:
        UnplannableError: no other broker lives.
    """
    if all(broker.id == leaving for broker in brokers):
        raise UnplannableError(f"there is no live broker but {leaving}")
    rows = sorted(partitions, key=lambda part: part.tp)
    given = [
        replace(each, role=Role.DRAIN if each.id == leaving else Role.TARGET) for each in brokers
    ]
    placement = Placement(rows, given, changes_max=changes_max)
    at = next((i for i, each in enumerate(placement.brokers) if each.id == leaving), None)
    if at is None:
        return Evacuation(wanted={}, basis=placement.basis, stays=(), limits=())
    cold = ColdestFirst(placement.targets, by_load(placement))
    stays: list[TP] = []
    stuck: list[TP] = []
    for number in sorted(placement.held[at], key=lambda each: (-placement.sizes[each], each)):
        tp = placement.partitions[number].tp
        if tp in only_there:
            stuck.append(tp)
        elif not _leave(placement, number, at, cold):
            stays.append(tp)
    wanted = {
        rows[number].tp: tuple(placement.brokers[i].id for i in placement.replicas[number])
        for number in sorted(placement.changed)
    }
    return Evacuation(
        wanted=wanted,
        basis=placement.basis,
        stays=tuple(sorted((*stays, *stuck))),
        limits=_limits(placement, leaving, sorted(stays), sorted(stuck)),
    )


def _leave(placement: Placement, number: int, at: int, cold: ColdestFirst) -> bool:
    """Whether the replica leaves, or would but for the bound on changes; else another leads."""
    replicas = placement.replicas[number]
    if all(target in replicas for target in placement.targets):
        others = [each for each in replicas if each in placement.targets]
        if replicas[0] == at and others and placement.may_change(number):
            placement.lead(number, min(others, key=lambda each: (placement.leads[each], each)))
        return False
    if placement.may_change(number):
        target = least_shared(placement, number, at, cold)
        placement.move(number, at, target)
        cold.update(target)
    return True


def _limits(
    placement: Placement, leaving: int, stays: Sequence[TP], stuck: Sequence[TP]
) -> tuple[Limit, ...]:
    found = []
    if stays:
        text = f"{_named(stays)}: every other live broker has a replica already, so one stays."
        found.append(Limit(code="no-other-broker", broker=leaving, text=text))
    if stuck:
        text = f"{_named(stuck)}: without a leader nobody can copy from it, so it stays."
        found.append(Limit(code="no-leader", broker=leaving, text=text))
    if placement.refused:
        text = (
            f"A plan changes at most {placement.changes_max} partitions, the largest first;"
            f" {len(placement.refused)} are left for the next one."
        )
        found.append(Limit(code="partitions-bound", text=text))
    return tuple(found)


def _named(tps: Sequence[TP]) -> str:
    names = ", ".join(f"{tp.topic}-{tp.partition}" for tp in tps[:NAMED])
    return f"{names} and {len(tps) - NAMED} more" if len(tps) > NAMED else names
