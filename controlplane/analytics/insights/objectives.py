"""Lag objectives: `share` of the time a time lag of at most `seconds`; how fast the rest goes.

A window is good when the time lag is known and small enough, bad when it, or its lower bound, is
more, and else unknown, which spends nothing. When it is said to burn is in `burns`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from django.db.models import Count, Q, QuerySet

from controlplane.analytics.insights.burns import BUDGET_S, WINDOWS_S, burn, verdict
from controlplane.analytics.insights.scene import Row
from controlplane.analytics.insights.targets import Pair, Target, by_target
from controlplane.analytics.models import GoldGroupLag

GROUPS_AT_ONCE = 500


def rows(
    cluster_id: str,
    as_of_ms: int,
    targets: Sequence[Target],
    *,
    group: str | None = None,
    pairs: Collection[Pair] | None = None,
) -> list[Row]:
    """Of each group and topic, or of these, in the 14 days before `as_of_ms`, by its objective."""
    inside = _inside(cluster_id, as_of_ms, BUDGET_S)
    if group is not None:
        inside = inside.filter(group=group)
    found = _pairs(inside) if pairs is None else pairs
    return _rows(cluster_id, as_of_ms, inside, targets, found)


def near(cluster_id: str, as_of_ms: int, targets: Sequence[Target]) -> list[Row]:
    """As `rows`, of those with an objective that somebody set, and of the longest window of a burn
    alone: nothing is said of the budget.
    """
    inside = _inside(cluster_id, as_of_ms, max(WINDOWS_S.values()))
    pairs = _pairs(inside)
    own = by_target(pairs, cluster_id, targets)
    pairs = [pair for target, mine in own.items() if target.objective_id for pair in mine]
    whole = ("good_share", "budget_left", "good", "bad", "unknown")
    return [
        {name: value for name, value in row.items() if name not in whole}
        for row in _rows(cluster_id, as_of_ms, inside, targets, pairs)
    ]


def _pairs(inside: QuerySet[GoldGroupLag]) -> list[Pair]:
    return list(inside.order_by("group", "topic").values_list("group", "topic").distinct())


def _inside(cluster_id: str, as_of_ms: int, span_s: int) -> QuerySet[GoldGroupLag]:
    return GoldGroupLag.objects.filter(
        cluster_id=cluster_id, ts_ms__gt=as_of_ms - span_s * 1000, ts_ms__lte=as_of_ms
    )


def _rows(
    cluster_id: str,
    as_of_ms: int,
    inside: QuerySet[GoldGroupLag],
    targets: Sequence[Target],
    pairs: Collection[Pair],
) -> list[Row]:
    found = []
    for target, mine in by_target(pairs, cluster_id, targets).items():
        wanted = set(mine)
        for names in batched(sorted({name for name, _ in mine}), GROUPS_AT_ONCE):
            counted = _counted(inside.filter(group__in=names), as_of_ms, target.seconds)
            found += [
                _row(row, target) for row in counted if (row["group"], row["topic"]) in wanted
            ]
    return sorted(found, key=lambda row: (row["group"], row["topic"]))


def _counted(inside: QuerySet[GoldGroupLag], as_of_ms: int, seconds: float) -> Iterator[Row]:
    good = Q(lag_seconds__lte=seconds)
    bad = Q(lag_seconds__gt=seconds) | Q(lag_seconds__isnull=True, lag_seconds_at_least__gt=seconds)
    counts = {"good": Count("pk", filter=good), "bad": Count("pk", filter=bad)}
    for name, span_s in WINDOWS_S.items():
        near = Q(ts_ms__gt=as_of_ms - span_s * 1000)
        counts[f"good_{name}"] = Count("pk", filter=good & near)
        counts[f"bad_{name}"] = Count("pk", filter=bad & near)
    summed = inside.values("group", "topic").annotate(every=Count("pk"), **counts)
    return (dict(row) for row in summed)


def _row(found: Row, target: Target) -> Row:
    share = target.share
    burns = {name: burn(found[f"good_{name}"], found[f"bad_{name}"], share) for name in WINDOWS_S}
    spent = burn(found["good"], found["bad"], share)
    known = found["good"] + found["bad"]
    return {
        "group": found["group"],
        "topic": found["topic"],
        "objective_id": target.objective_id,
        "seconds": target.seconds,
        "share": share,
        "verdict": verdict(burns).value,
        **{f"burn_{name}": rate for name, rate in burns.items()},
        "good_share": found["good"] / known if known else None,
        "budget_left": None if spent is None else 1 - spent,
        "good": found["good"],
        "bad": found["bad"],
        "unknown": found["every"] - known,
    }


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
