"""Lag objectives: `share` of the time a time lag of at most `seconds`; how fast the rest goes.

A window is good when the time lag is known and small enough, bad when it, or its lower bound, is
more, and else unknown, which spends nothing. A burn rate of 1 spends the whole budget in exactly
the objective's time; two windows must agree before anything is said (Google SRE workbook, ch. 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Count, Q, QuerySet

from controlplane.analytics.insights.scene import Row
from controlplane.analytics.insights.targets import Target, by_target
from controlplane.analytics.models import GoldGroupLag
from spark_analytics.contracts.analyses import Verdict

FAST_BURN, SLOW_BURN = 14.4, 6.0
WINDOWS_S: Mapping[str, int] = {"5m": 300, "30m": 1800, "1h": 3600, "6h": 6 * 3600}
BUDGET_S = 14 * 86_400
"""The objective's time: as long as windows are kept."""
GROUPS_AT_ONCE = 500


def burn(good: int, bad: int, share: float) -> float | None:
    """How many times faster than allowed; null where nothing is known."""
    if good + bad == 0:
        return None
    return (bad / (good + bad)) / (1 - share)


def verdict(burns: Mapping[str, float | None]) -> Verdict:
    """Fast: 1 h and 5 min, slow: 6 h and 30 min, each at its rate."""
    for long, short, rate, word in (
        ("1h", "5m", FAST_BURN, Verdict.FAST_BURN),
        ("6h", "30m", SLOW_BURN, Verdict.SLOW_BURN),
    ):
        pair = (burns[long], burns[short])
        if all(found is not None and found >= rate for found in pair):
            return word
    return Verdict.UNKNOWN if burns["6h"] is None else Verdict.WITHIN


def rows(
    cluster_id: str, as_of_ms: int, targets: Sequence[Target], *, group: str | None = None
) -> list[Row]:
    """Of each group and topic, in the 14 days before `as_of_ms`, by its own objective."""
    inside = GoldGroupLag.objects.filter(
        cluster_id=cluster_id, ts_ms__gt=as_of_ms - BUDGET_S * 1000, ts_ms__lte=as_of_ms
    )
    if group is not None:
        inside = inside.filter(group=group)
    pairs = list(inside.order_by("group", "topic").values_list("group", "topic").distinct())
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
