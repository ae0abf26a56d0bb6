"""When the disks are at 80 %: growth from one day to another, as it was between any two days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from controlplane.analytics.insights.scene import DAY_MS, Row, Scene
from controlplane.analytics.models import GoldClusterRollup
from controlplane.observed.models import ObservedTopic
from spark_analytics.contracts.analyses import Verdict
from spark_analytics.contracts.gold import DAY_S

FULL_SHARE = 0.8
DAYS_MIN = 3
DAYS_MAX = 28
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}

Point = tuple[int, float]
"""(day's start in ms, bytes)."""


def growths(points: Sequence[Point]) -> dict[str, float | None]:
    """Bytes a day, by quantile of the slopes of every two days; null below `DAYS_MIN` days."""
    if len(points) < DAYS_MIN:
        return dict.fromkeys(QUANTILES)
    slopes = sorted(
        (late - early) / ((late_ms - early_ms) / DAY_MS)
        for (early_ms, early), (late_ms, late) in combinations(sorted(points), 2)
    )
    return {name: _quantile(slopes, share) for name, share in QUANTILES.items()}


def days_left(now: float, capacity: int, growth: float | None) -> float | None:
    """0 when it is there already, null when it never comes or nobody knows."""
    left = capacity * FULL_SHARE - now
    if left <= 0:
        return 0.0
    return left / growth if growth is not None and growth > 0 else None


def row(scene: Scene, capacity_bytes: int | None) -> Row:
    """Of a cluster whose disks hold so much together; None where nobody says how much."""
    days = GoldClusterRollup.objects.filter(
        cluster_id=scene.cluster_id,
        period_s=DAY_S,
        ts_ms__gte=scene.to_ms - DAYS_MAX * DAY_MS,
        ts_ms__lt=scene.to_ms,
    )
    replication = replication_of(scene.cluster_id)
    pairs = days.values_list("ts_ms", "bytes_last")
    points = [(at, held * (replication or 1.0)) for at, held in pairs if held is not None]
    known = replication is not None and len(points) >= DAYS_MIN
    growth = growths(points) if known else dict.fromkeys(QUANTILES)
    now = max(points)[1] if known else None
    # The quicker it grows, the fewer days are left.
    opposite = {"p10": "p90", "p50": "p50", "p90": "p10"}
    middle = growth["p50"]
    return {
        "verdict": (
            Verdict.UNKNOWN
            if middle is None
            else Verdict.GROWING
            if middle > 0
            else Verdict.NOT_GROWING
        ).value,
        "disk_bytes": None if now is None else round(now),
        "capacity_bytes": capacity_bytes,
        "used_share": None if now is None or capacity_bytes is None else now / capacity_bytes,
        **{f"growth_bytes_per_day_{name}": value for name, value in growth.items()},
        **{
            f"days_to_80_{name}": None
            if now is None or capacity_bytes is None
            else days_left(now, capacity_bytes, growth[opposite[name]])
            for name in QUANTILES
        },
        "days": len(points),
    }


def replication_of(cluster_id: str) -> float | None:
    """Bytes on disk for each byte of a leader, by what topics hold now; null when nobody knows."""
    pairs = [
        (row.get("size_bytes"), row.get("replication_factor"))
        for row in ObservedTopic.objects.filter(cluster_id=cluster_id, gone=False)
        .values_list("row", flat=True)
        .iterator()
    ]
    sized = [(size, factor) for size, factor in pairs if size and factor]
    held = sum(size for size, _ in sized)
    return sum(size * factor for size, factor in sized) / held if held else None


def _quantile(ordered: Sequence[float], share: float) -> float:
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
