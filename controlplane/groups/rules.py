"""Where a reset puts each partition, and what that re-reads or skips. Pure.

Ends are exclusive: log_end is the offset of the next record. A target is kept within
[log_start, log_end]; the reason says when it had to be.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from controlplane.gateway.types import TP

EARLIEST, LATEST, TIMESTAMP, SHIFT, OFFSET = "earliest", "latest", "timestamp", "shift", "offset"
DURATION, FILE, COPY = "duration", "file", "copy"
STRATEGIES = (EARLIEST, LATEST, TIMESTAMP, DURATION, SHIFT, OFFSET, FILE, COPY)
"""DURATION is a TIMESTAMP that is so long before the plan. FILE and COPY name an offset for each
partition: those of a file, or another group's commits.
"""
EFFECTS = REREAD, SKIP, FIRST, REMOVED, NONE, UNKNOWN = (
    "reread",
    "skip",
    "first",
    "removed",
    "none",
    "unknown",
)
"""FIRST: read from here on, by a group that has no commit here. REMOVED: the commit goes, and
`auto.offset.reset` of the group's consumers decides where they begin; how many records that
re-reads or skips is not known. UNKNOWN: the partition has no leader, so nobody says where its log
begins and ends; the commit is left as it is.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFacts:
    """What the brokers say of one partition.

    Attributes:
        committed: the group's offset, None without one.
        at_timestamp: first offset at or after the asked time, None when there is none.
    """

    tp: TP
    committed: int | None
    log_start: int
    log_end: int
    at_timestamp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedOffset:
    tp: TP
    from_offset: int | None
    to_offset: int | None
    log_start: int | None
    log_end: int | None
    effect: str
    records: int | None
    reason: str


def left_unknown(tp: TP, committed: int | None) -> PlannedOffset:
    """The row of a partition that has no leader now."""
    return PlannedOffset(
        tp=tp,
        from_offset=committed,
        to_offset=committed,
        log_start=None,
        log_end=None,
        effect=UNKNOWN,
        records=None,
        reason="no leader now: unknown, left as it is",
    )


def plan_reset(
    facts: Collection[PartitionFacts], *, strategy: str, value: int | None
) -> list[PlannedOffset]:
    """One row per partition, also for those that stay."""
    return [_planned(fact, strategy, value) for fact in sorted(facts, key=lambda f: f.tp)]


def plan_restore(
    facts: Collection[PartitionFacts], wanted: Mapping[TP, int | None]
) -> list[PlannedOffset]:
    """Back to exactly the offsets that were; None removes the commit."""
    rows = []
    for fact in sorted(facts, key=lambda f: f.tp):
        target = wanted[fact.tp]
        if target is None:
            rows.append(_row(fact, None, "there was no commit"))
        else:
            at, reason = _clamped(fact, target)
            rows.append(_row(fact, at, reason or "as it was", is_restored=True))
    return rows


def plan_to(
    facts: Collection[PartitionFacts], wanted: Mapping[TP, int], *, reason: str, absent: str
) -> list[PlannedOffset]:
    """To the offset that is wanted of each partition; one without any is left as it is.

    `reason` is that of a partition that goes where it should, `absent` that of one that is left.
    """
    rows = []
    for fact in sorted(facts, key=lambda f: f.tp):
        target = wanted.get(fact.tp)
        if target is None:
            rows.append(_left(fact, absent))
        else:
            at, moved = _clamped(fact, target)
            rows.append(_row(fact, at, moved or reason))
    return rows


def _left(fact: PartitionFacts, reason: str) -> PlannedOffset:
    return PlannedOffset(
        tp=fact.tp,
        from_offset=fact.committed,
        to_offset=fact.committed,
        log_start=fact.log_start,
        log_end=fact.log_end,
        effect=NONE,
        records=0,
        reason=reason,
    )


def _planned(fact: PartitionFacts, strategy: str, value: int | None) -> PlannedOffset:
    if strategy in {SHIFT, OFFSET}:
        return _by_value(fact, strategy, value)
    if strategy == EARLIEST:
        return _row(fact, fact.log_start, "the first record there is")
    if strategy == LATEST:
        return _row(fact, fact.log_end, "behind the last record")
    if fact.at_timestamp is None:
        return _row(fact, fact.log_end, "no record at or after that time: the end")
    at, reason = _clamped(fact, fact.at_timestamp)
    return _row(fact, at, reason or "the first record at or after that time")


def _by_value(fact: PartitionFacts, strategy: str, value: int | None) -> PlannedOffset:
    if value is None:
        raise ValueError(f"the strategy {strategy} needs a value")
    if strategy == SHIFT:
        if fact.committed is None:
            return _row(fact, None, "no commit to shift from")
        at, reason = _clamped(fact, fact.committed + value)
        return _row(fact, at, reason or f"shifted by {value:+d}")
    at, reason = _clamped(fact, value)
    return _row(fact, at, reason or "as asked")


def _clamped(fact: PartitionFacts, target: int) -> tuple[int, str]:
    if target < fact.log_start:
        return fact.log_start, f"{target} is not there any more: the first record there is"
    if target > fact.log_end:
        return fact.log_end, f"{target} is not there yet: behind the last record"
    return target, ""


def _row(
    fact: PartitionFacts, target: int | None, reason: str, *, is_restored: bool = False
) -> PlannedOffset:
    before = fact.committed
    effect: str = NONE
    records: int | None = 0
    if target is None and before is not None:
        effect, records = REMOVED, None
    elif target is not None and before is None:
        effect, records = _first_commit(fact, target, is_restored=is_restored)
        reason = f"no commit yet; {reason}" if not is_restored else f"no commit now; {reason}"
    elif target is not None and before is not None:
        start = max(before, fact.log_start)
        moved = min(target, fact.log_end) - min(start, fact.log_end)
        effect = SKIP if moved > 0 else REREAD if moved < 0 else NONE
        records = abs(moved)
        if target == before:
            reason = "it is there already"
    return PlannedOffset(
        tp=fact.tp,
        from_offset=before,
        to_offset=target,
        log_start=fact.log_start,
        log_end=fact.log_end,
        effect=effect,
        records=records,
        reason=reason,
    )


def _first_commit(fact: PartitionFacts, target: int, *, is_restored: bool) -> tuple[str, int]:
    """Nothing was read in the group's name: all of the log is new to it.

    What lies before the target is skipped, measured at a consumer that begins at the first
    record when it has no commit (auto.offset.reset=earliest). A commit that is restored goes on
    where the group once was: it skips nothing.
    """
    skipped, ahead = target - fact.log_start, fact.log_end - target
    if skipped > 0 and not is_restored:
        return SKIP, skipped
    return (FIRST, ahead) if ahead > 0 else (NONE, 0)


def changes(rows: Collection[PlannedOffset]) -> list[PlannedOffset]:
    return [row for row in rows if row.to_offset != row.from_offset]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Records by what becomes of them, and partitions where the group has no commit.

    Attributes:
        removed: partitions whose commit goes.
        reread_at_most: records before those commits, read again by `earliest`.
        skipped_at_most: records behind those commits, skipped by `latest`.
    """

    reread: int
    skipped: int
    first_read: int
    uncommitted: int
    removed: int
    reread_at_most: int
    skipped_at_most: int


def totals(rows: Collection[PlannedOffset]) -> Totals:
    removed = [
        (row.log_start, min(max(row.from_offset, row.log_start), row.log_end), row.log_end)
        for row in rows
        if row.effect == REMOVED
        and row.from_offset is not None
        and row.log_start is not None
        and row.log_end is not None
    ]
    return Totals(
        reread=sum(row.records or 0 for row in rows if row.effect == REREAD),
        skipped=sum(row.records or 0 for row in rows if row.effect == SKIP),
        first_read=sum(
            max(row.log_end - row.to_offset, 0)
            for row in rows
            if row.from_offset is None and row.to_offset is not None and row.log_end is not None
        ),
        uncommitted=sum(row.from_offset is None for row in rows),
        removed=len(removed),
        reread_at_most=sum(at - start for start, at, _ in removed),
        skipped_at_most=sum(end - at for _, at, end in removed),
    )
