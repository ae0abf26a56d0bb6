"""The plan: the goals one after another until none of them changes anything.

Near-linear: a pass looks once at each replica of the brokers that are out of their band, and
finds the least loaded broker in a sorted list of brokers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from controlplane.gateway.types import TP
from controlplane.reassignments.planner.balance import balance_bytes, balance_replicas
from controlplane.reassignments.planner.drain import drain, spread_over_racks
from controlplane.reassignments.planner.exchange import exchange_for_bytes
from controlplane.reassignments.planner.leaders import balance_leader_bytes, balance_leaders
from controlplane.reassignments.planner.limits import limits_of
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.prune import prune_moves, prune_orders
from controlplane.reassignments.planner.types import (
    PRUNES_MAX,
    ROUNDS_MAX,
    Basis,
    Broker,
    BrokerChange,
    BrokerFigures,
    Partition,
    Rebalance,
    Replicas,
    Role,
    UnplannableError,
)


def rebalance(
    partitions: Iterable[Partition], brokers: Sequence[Broker], *, changes_max: int | None = None
) -> Rebalance:
    """Where every replica should be. The same input gives the same plan.

    Goals, each never at the cost of those before it: drained brokers emptied; racks never worse
    (but where draining leaves no choice) and better where possible; bytes within the
    tolerance, with no more moved than that asks for; replicas by number; preferred leaders by
    number, then by bytes led. Where a size is unknown, bytes are no goal and the plan says so.

    Args:
        partitions: what may move. The spread of one topic over brokers is no goal of its own.
        brokers: a broker that only replicas name (it is down) is drained.
        changes_max: so many partitions change at most; what is left undone is a limit.

    Raises:
        UnplannableError: no targets, or fewer than a partition has replicas.
    """
    if not any(broker.role is Role.TARGET for broker in brokers):
        raise UnplannableError("no target brokers were given")
    rows = sorted(partitions, key=lambda part: part.tp)
    placement = Placement(rows, brokers, changes_max=changes_max)
    violations_before = placement.rack_violations()
    before = _figures(placement, violations_before)
    drain(placement)
    settled = _settle(placement)
    violations = placement.rack_violations()
    after = _figures(placement, violations)
    wanted = {rows[number].tp: _ids(placement, number) for number in sorted(placement.changed)}
    return Rebalance(
        wanted=wanted,
        basis=placement.basis,
        brokers=_compared(placement, wanted, before, after),
        bytes_to_move=_bytes_to_move(placement),
        limits=limits_of(
            placement,
            settled=settled,
            violations_before=violations_before,
            violations=violations,
        ),
    )


def changes_of(
    partitions: Iterable[Partition], brokers: Sequence[Broker], wanted: Mapping[TP, Replicas]
) -> tuple[BrokerChange, ...]:
    """What somebody else's wish does to every broker, in the figures of a plan."""
    before = sorted(partitions, key=lambda part: part.tp)
    after = [replace(part, replicas=wanted.get(part.tp, part.replicas)) for part in before]
    named = {broker for part in (*before, *after) for broker in part.replicas}
    known = {broker.id for broker in brokers}
    everyone = [*brokers, *(Broker(id=id_, fixed_bytes=None) for id_ in sorted(named - known))]
    placements = [Placement(rows, everyone, changes_max=None) for rows in (before, after)]
    figures = [_figures(placement, placement.rack_violations()) for placement in placements]
    return _compared(placements[0], wanted, *figures)


def _compared(
    placement: Placement,
    wanted: Mapping[TP, Replicas],
    before: list[BrokerFigures],
    after: list[BrokerFigures],
) -> tuple[BrokerChange, ...]:
    """Where a broker said what it holds, its word goes before the sum of the sizes."""
    gains = _gains(placement.partitions, wanted)
    found = []
    for broker, was, becomes in zip(placement.brokers, before, after, strict=True):
        said, gain = broker.said_bytes, gains.get(broker.id, 0)
        if said is not None:
            was = replace(was, bytes=said)
            becomes = replace(becomes, bytes=None if gain is None else max(said + gain, 0))
        found.append(BrokerChange(id=broker.id, before=was, after=becomes))
    return tuple(found)


def _gains(partitions: Iterable[Partition], wanted: Mapping[TP, Replicas]) -> dict[int, int | None]:
    """Bytes that each broker gets more, or less; None where one of the sizes is unknown."""
    gains: dict[int, int | None] = {}
    for part in partitions:
        old, new = set(part.replicas), set(wanted.get(part.tp, part.replicas))
        for broker in old ^ new:
            gain, size = gains.get(broker, 0), part.size_bytes
            known = gain is not None and size is not None
            sign = 1 if broker in new else -1
            gains[broker] = (gain or 0) + sign * (size or 0) if known else None
    return gains


def _settle(placement: Placement) -> bool:
    """Repeat until nothing changes; False when the rounds were used up.

    It ends with the goals, not with the pruning: so a plan of its own result is empty.
    """
    prunes = PRUNES_MAX
    for _ in range(ROUNDS_MAX):
        if _round(placement):
            continue
        if not prunes or not prune_moves(placement):
            break
        prunes -= 1
    else:
        return False
    prunes = PRUNES_MAX
    for _ in range(ROUNDS_MAX):
        if balance_leaders(placement) | balance_leader_bytes(placement):
            continue
        if not prunes or not prune_orders(placement):
            return True
        prunes -= 1
    return False


def _round(placement: Placement) -> bool:
    """The goals that move data. An exchange only where no single move was left."""
    moved = spread_over_racks(placement)
    if placement.basis is Basis.BYTES:
        by_bytes = balance_bytes(placement)
        moved |= by_bytes or exchange_for_bytes(placement)
    return balance_replicas(placement) or moved


def _ids(placement: Placement, number: int) -> Replicas:
    return tuple(placement.brokers[broker].id for broker in placement.replicas[number])


def _bytes_to_move(placement: Placement) -> int | None:
    total = 0
    for number in placement.changed:
        size = placement.partitions[number].size_bytes
        added = len(set(placement.replicas[number]) - set(placement.original[number]))
        if added and size is None:
            return None
        total += added * (size or 0)
    return total


def _figures(placement: Placement, violations: list[int]) -> list[BrokerFigures]:
    return [
        BrokerFigures(
            bytes=_bytes_on(placement, i),
            replicas=placement.counts[i],
            leaders=placement.leads[i],
            rack_violations=violations[i],
        )
        for i in range(len(placement.brokers))
    ]


def _bytes_on(placement: Placement, broker: int) -> int | None:
    """Known when every part of the sum is."""
    fixed = placement.brokers[broker].fixed_bytes
    sizes = [placement.partitions[number].size_bytes for number in placement.held[broker]]
    if fixed is None or any(size is None for size in sizes):
        return None
    return fixed + sum(size or 0 for size in sizes)
