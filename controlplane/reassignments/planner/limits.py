"""What a plan does not reach, and why: said for each broker, never left out."""

from controlplane.reassignments.planner.balance import Measure, bytes_of, replicas_of
from controlplane.reassignments.planner.exchange import BROKERS_MAX, PARTITIONS_MAX
from controlplane.reassignments.planner.leaders import leaders_stuck
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import ROUNDS_MAX, Basis, Limit


def limits_of(
    placement: Placement, *, settled: bool, violations_before: list[int], violations: list[int]
) -> tuple[Limit, ...]:
    """In the order of the goals. `settled` is False when the rounds were used up."""
    found = [*_of_knowledge(placement), *_of_bounds(placement, settled=settled)]
    found += _of_racks(placement, violations_before, violations)
    by_bytes = placement.basis is Basis.BYTES
    if by_bytes:
        found += _out_of_band(placement, bytes_of(placement), "bytes")
    found += _out_of_band(placement, replicas_of(placement), "replicas")
    found += [
        Limit(
            code="leaders",
            broker=placement.brokers[broker].id,
            text=f"Preferred leader of {placement.leads[broker]} partitions: the partitions that"
            " it holds allow no number nearer to the mean.",
        )
        for broker in leaders_stuck(placement)
    ]
    return tuple(found)


def _of_knowledge(placement: Placement) -> list[Limit]:
    found = []
    if placement.basis is Basis.REPLICAS:
        unknown = sum(part.size_bytes is None for part in placement.partitions)
        text = (
            f"The size of {unknown} of {len(placement.partitions)} partitions is unknown"
            if unknown
            else "What some brokers hold of other topics is unknown"
        )
        found.append(
            Limit(code="bytes-unknown", text=f"{text}: replicas are balanced by number instead.")
        )
    racks = {placement.racks[broker] for broker in placement.targets}
    nowhere = [placement.brokers[b].id for b in placement.targets if placement.racks[b] is None]
    if nowhere and len(racks) > 1:
        found.append(
            Limit(
                code="rack-unknown",
                text=f"Brokers {nowhere} have no rack: they count as being in one place.",
            )
        )
    return found


def _of_bounds(placement: Placement, *, settled: bool) -> list[Limit]:
    found = []
    if placement.refused:
        found.append(
            Limit(
                code="partitions-bound",
                text=f"A plan changes at most {placement.changes_max} partitions, the most urgent"
                " first. More would help: plan again when these have moved.",
            )
        )
    if not settled:
        found.append(
            Limit(
                code="rounds-bound",
                text=f"Stopped after {ROUNDS_MAX} rounds; more would help: plan again afterwards.",
            )
        )
    return found


def _of_racks(placement: Placement, before: list[int], after: list[int]) -> list[Limit]:
    if sum(after) > sum(before):
        text = (
            "What leaves the drained brokers finds too few brokers in other racks:"
            f" {sum(after)} replicas share their rack with another of their partition,"
            f" {sum(before)} do so now."
        )
        return [Limit(code="racks-worse", text=text)]
    if sum(after):
        racks = len({placement.racks[broker] for broker in placement.targets})
        text = (
            f"{sum(after)} replicas share their rack with another of their partition:"
            f" the target brokers are in {racks} racks, and no target in another rack is free."
        )
        return [Limit(code="racks-too-few", text=text)]
    return []


def _out_of_band(placement: Placement, measure: Measure, unit: str) -> list[Limit]:
    """One row for each target outside; replicas in whole numbers may be one off the level."""
    band = measure.band
    whole = 1.0 if unit == "replicas" else 0.0
    found = []
    for broker in placement.targets:
        weight = placement.weight[broker]
        over = (measure.of(broker) - max(band.high, band.level + whole / weight)) * weight
        under = (min(band.low, band.level - whole / weight) - measure.of(broker)) * weight
        if over > 0:
            text = f"{int(over)} {unit} above its share: {_why_over(placement, broker, unit)}"
        elif under > 0:
            text = f"{int(under)} {unit} below its share: {_why_under(placement, broker)}"
        else:
            continue
        found.append(Limit(code=unit, broker=placement.brokers[broker].id, text=text))
    return found


def _why_over(placement: Placement, broker: int, unit: str) -> str:
    given = placement.brokers[broker]
    measure = bytes_of(placement) if unit == "bytes" else replicas_of(placement)
    share = measure.band.high * placement.weight[broker]
    fixed = given.fixed_bytes if unit == "bytes" else given.fixed_replicas
    if fixed is not None and fixed > share:
        return "it holds more of topics that are not in this plan."
    largest = max(placement.held[broker], key=lambda p: (placement.sizes[p], -p), default=None)
    if unit == "bytes" and largest is not None and placement.sizes[largest] > share - (fixed or 0):
        tp = placement.partitions[largest].tp
        return (
            f"{tp.topic}-{tp.partition} alone has {placement.sizes[largest]}, and a partition"
            " cannot be divided."
        )
    if _bound_by_racks(placement, broker):
        return "every broker with less is in a rack where its partitions are already."
    if unit == "replicas":
        return "no replica fits elsewhere that leaves racks and bytes as good as they are."
    return (
        "no move of one partition helps, nor an exchange of two (looked for among the"
        f" {PARTITIONS_MAX} largest and {BROKERS_MAX} brokers)."
    )


def _why_under(placement: Placement, broker: int) -> str:
    if len(placement.held[broker]) == len(placement.replicas):
        return "it has a replica of every partition already."
    if any(
        _bound_by_racks(placement, other, only=broker)
        for other in placement.targets
        if other != broker
    ):
        return "what others could give has a replica in its rack already."
    return "nothing that others have more of fits without making them worse."


def _bound_by_racks(placement: Placement, source: int, only: int | None = None) -> bool:
    """Whether all with less (or `only` that one) are closed to each of its partitions."""
    others = [b for b in placement.targets if placement.counts[b] < placement.counts[source]]
    if only is not None:
        others = [only]
    racks = {placement.racks[b] for b in others if b != source}
    if not racks or placement.racks[source] in racks or not placement.held[source]:
        return False
    return all(racks <= placement.blocked_racks(p, source) for p in placement.held[source])
