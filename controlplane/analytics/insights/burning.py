"""Which objectives that somebody has set are being burnt, by the near windows: for the alert rule.

An objective that nobody set is in no row: it is there to look at, not to wake anybody by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from controlplane.analytics.insights import objectives
from controlplane.analytics.insights.burns import PAIRS, agreed, burns_of
from controlplane.analytics.insights.objective_services import target_of
from controlplane.analytics.insights.scene import Row
from controlplane.analytics.insights.tallies import TooManyWindowsError
from controlplane.analytics.insights.targets import Target
from controlplane.analytics.models import GoldGroupLag, LagObjective

RATE_LEAST = 1.0
"""What burns more slowly lasts for the objective's time, and is in no row."""
ROWS_MAX = 2_000
BUDGETS_MAX = 100
"""Of these, the fastest, it is also read how much of the budget is left."""


def targets_by_tenant() -> dict[str, list[Target]]:
    """Of the tenants that have set any."""
    found: dict[str, list[Target]] = {}
    for row in LagObjective.objects.order_by("pk"):
        found.setdefault(row.tenant_id, []).append(target_of(row))
    return found


def newest(cluster_id: str) -> tuple[int, int, str] | None:
    """(start of the newest window, when it was sampled, the run that wrote it)."""
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms")
    return rows.values_list("ts_ms", "sampled_ms", "run_id").first()


def burning(cluster_id: str, as_of_ms: int, targets: Sequence[Target]) -> tuple[list[Row], bool]:
    """(groups on topics that burn their objectives or may, the fastest first; whether it is all).

    "May": what is known of a pair of windows does not say no. Rows are as `objectives.near` has
    them, with `budget_left`, which is null where it was not read.
    """
    found = [
        {**row, "budget_left": None}
        for row in objectives.near(cluster_id, as_of_ms, targets)
        if _may_burn(row)
    ]
    found.sort(key=lambda row: (-_speed(row), row["group"], row["topic"]))
    _with_budgets(cluster_id, as_of_ms, targets, found[:BUDGETS_MAX])
    return found[:ROWS_MAX], len(found) <= ROWS_MAX


def _may_burn(row: Row) -> bool:
    found = burns_of(row)
    if all(found[name] is None for pair in PAIRS for name in pair[:2]):
        # Of a topic that nobody knows anything of: no reason to hold up what is known of others.
        return False
    return any(
        agreed(found[long], found[short], RATE_LEAST) is not False for long, short, _, _ in PAIRS
    )


def _speed(row: Row) -> float:
    return max((row[f"burn_{name}"] or 0.0) for name in ("1h", "6h"))


def _with_budgets(
    cluster_id: str, as_of_ms: int, targets: Sequence[Target], fastest: Sequence[Row]
) -> None:
    pairs = {(row["group"], row["topic"]) for row in fastest if _speed(row) >= RATE_LEAST}
    if not pairs:
        return
    try:
        found = objectives.rows(cluster_id, as_of_ms, targets, only=pairs)
    except TooManyWindowsError:
        return
    whole: Mapping[tuple[str, str], Row] = {(row["group"], row["topic"]): row for row in found}
    for row in fastest:
        known = whole.get((row["group"], row["topic"]))
        row["budget_left"] = known["budget_left"] if known is not None else None
