"""One measure over time in no more points than a chart has: of each step the mean and the peak.

Short ranges that are still kept are read by windows, longer ones by hours, the longest by days; of
hours and days the mean is that of their medians or means. A step of which nothing is known is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Count, F, Max, Sum

from controlplane.analytics import rollups
from controlplane.analytics.conf import conf
from controlplane.analytics.models import (
    GoldClusterRollup,
    GoldGroupLag,
    GoldGroupRollup,
    GoldTopicRetention,
    GoldTopicRollup,
)
from controlplane.analytics.times import iso_ms
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import DAY_S, HOUR_S, ROLLUP_FORMULA_VERSION, ROLLUP_KEEP_S
from spark_analytics.contracts.rules import Rules

MEASURE_DEFAULT = "lag_seconds"
POINTS_DEFAULT = 300
SERIES_MAX = 50
"""Of one answer: those with the highest peaks."""
NAMES_MAX = 5_000
"""Series that are looked at for them."""
SPAN_DEFAULT_S = DAY_S
WINDOWS_UP_TO_S = 2 * DAY_S
HOURS_UP_TO_S = 60 * DAY_S
ROWS_MAX = 3_000_000
"""That one chart reads about: of what would be more a table of longer periods is read."""
WINDOWS, HOURS, DAYS = SOURCES = ("windows", "hours", "days")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Columns of rollups, and of windows where those have it."""

    series: str
    rollup: Any
    typical: str
    highest: str
    known: str
    windows: Any = None
    column: str = ""


def _of_group(typical: str, highest: str, known: str, column: str) -> Measure:
    return Measure(
        series="groups",
        rollup=GoldGroupRollup,
        typical=typical,
        highest=highest,
        known=known,
        windows=GoldGroupLag,
        column=column,
    )


_RATES = "produce_records_per_s", "consume_records_per_s"
MEASURES: Mapping[str, Measure] = {
    "lag_records": _of_group("lag_records_p50", "lag_records_max", "lag_samples", "lag_records"),
    "lag_seconds": _of_group(
        "lag_seconds_p50", "lag_seconds_max", "time_lag_samples", "lag_seconds"
    ),
    "consume_records_per_s": _of_group(_RATES[1], _RATES[1], "samples", _RATES[1]),
    "topic_bytes": Measure(
        series="topics",
        rollup=GoldTopicRollup,
        typical="bytes_avg",
        highest="bytes_max",
        known="bytes_samples",
        windows=GoldTopicRetention,
        column="bytes",
    ),
    "topic_records_in_per_s": Measure(
        series="topics",
        rollup=GoldTopicRollup,
        typical=_RATES[0],
        highest=_RATES[0],
        known="samples",
    ),
    "cluster_bytes": Measure(
        series="cluster",
        rollup=GoldClusterRollup,
        typical="bytes_avg",
        highest="bytes_max",
        known="bytes_samples",
    ),
    "cluster_lag_records": Measure(
        series="cluster",
        rollup=GoldClusterRollup,
        typical="lag_records_p50",
        highest="lag_records_max",
        known="lag_samples",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """[from_ms, to_ms) in steps of `step_s`, each of whole periods of `period_s`."""

    source: str
    period_s: int
    step_s: int
    from_ms: int
    to_ms: int

    @property
    def ts_ms(self) -> range:
        return range(self.from_ms, self.to_ms, self.step_s * 1000)


def steps(
    from_ms: int,
    to_ms: int,
    points: int,
    *,
    has_windows: bool,
    windows_since_ms: int,
    series: int = 1,
) -> Steps:
    """The shortest that give no more than `points`, read from no more rows than a chart may of
    `series`; the range grows to whole steps.
    """
    span_s = max(1, -(-(to_ms - from_ms) // 1000))
    most_s = ROWS_MAX * Rules().window_s // max(1, series)
    if has_windows and span_s <= min(WINDOWS_UP_TO_S, most_s) and from_ms >= windows_since_ms:
        source, period_s = WINDOWS, Rules().window_s
    elif span_s <= min(HOURS_UP_TO_S, ROWS_MAX * HOUR_S // max(1, series)):
        source, period_s = HOURS, HOUR_S
    else:
        source, period_s = DAYS, DAY_S
    # One less, for a range that does not begin where a step does touches one more.
    step_s = -(-span_s // (max(2, points) - 1) // period_s) * period_s
    step_ms = max(period_s, step_s) * 1000
    return Steps(
        source=source,
        period_s=period_s,
        step_s=step_ms // 1000,
        from_ms=from_ms // step_ms * step_ms,
        to_ms=-(-to_ms // step_ms) * step_ms,
    )


def answer(
    tenant: Tenant, scope: Scope, cluster_id: str, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """{measure, source, formula_version, as_of, from, to, step_s, complete, ts_ms, series}.

    Raises:
        NotFound: the cluster is not there, or its totals are not for this caller.
    """
    measure = MEASURES[asked["measure"]]
    sees = rollups.sight(tenant, scope, cluster_id, measure.series)
    newest = _newest(measure, cluster_id)
    begin_ms, end_ms = _range(asked, newest)
    names = rollups.SERIES[measure.series].names
    mine = {name: asked[name] for name in names if name in asked}
    plan = steps(
        begin_ms,
        end_ms,
        asked["points"],
        has_windows=measure.windows is not None,
        windows_since_ms=0 if newest is None else newest.ts_ms - conf().gold_keep_s * 1000,
        series=0 if newest is None else _series_now(measure, newest, mine),
    )
    rows = _rows(measure, cluster_id, plan).filter(**mine)
    chosen, whole = _highest(rows, measure, plan, names, sees)
    return {
        "measure": asked["measure"],
        "source": plan.source,
        "formula_version": ROLLUP_FORMULA_VERSION,
        "as_of": None if newest is None else iso_ms(newest.sampled_ms),
        "from": iso_ms(plan.from_ms) if newest else None,
        "to": iso_ms(plan.to_ms) if newest else None,
        "step_s": plan.step_s,
        "complete": whole,
        "ts_ms": list(plan.ts_ms) if newest else [],
        "series": _series(rows, measure, plan, names, chosen) if newest else [],
    }


def _range(asked: Mapping[str, Any], newest: Any) -> tuple[int, int]:
    """What was asked for, as far as anything is kept or known: there are dates of no clock."""
    last_ms = 0 if newest is None else newest.sampled_ms + 1
    end_ms = min(asked.get("to_ms", last_ms), last_ms + DAY_S * 1000)
    begin_ms = max(asked.get("from_ms", end_ms - SPAN_DEFAULT_S * 1000), 0)
    begin_ms = max(begin_ms, last_ms - ROLLUP_KEEP_S * 1000 - DAY_S * 1000)
    return min(begin_ms, end_ms), end_ms


def _newest(measure: Measure, cluster_id: str) -> Any:
    model = measure.rollup if measure.windows is None else measure.windows
    found = model._default_manager.filter(cluster_id=cluster_id)  # noqa: SLF001 - Django's documented name
    return found.order_by("-ts_ms").first()


def _series_now(measure: Measure, newest: Any, mine: Mapping[str, str]) -> int:
    """How many there are of in the newest window or period, to reckon with."""
    found = type(newest)._default_manager.filter(  # noqa: SLF001 - Django's documented name
        cluster_id=newest.cluster_id, ts_ms=newest.ts_ms, **mine
    )
    period = {} if measure.windows is not None else {"period_s": newest.period_s}
    count: int = found.filter(**period).count()
    return count


def _rows(measure: Measure, cluster_id: str, plan: Steps) -> Any:
    by_window = plan.source == WINDOWS
    model = measure.windows if by_window else measure.rollup
    rows = model._default_manager.filter(  # noqa: SLF001 - Django's documented name
        cluster_id=cluster_id, ts_ms__gte=plan.from_ms, ts_ms__lt=plan.to_ms
    )
    return rows if by_window else rows.filter(period_s=plan.period_s)


def _columns(measure: Measure, plan: Steps) -> tuple[str, str]:
    if plan.source == WINDOWS:
        return measure.column, measure.column
    return measure.typical, measure.highest


def _highest(
    rows: Any, measure: Measure, plan: Steps, names: Sequence[str], sees: Any
) -> tuple[list[tuple[str, ...]], bool]:
    """(the names of the series that are shown, whether all are)."""
    if not names:
        return [()], True
    peak = F("peak").desc(nulls_last=True)
    ranked = rows.values(*names).annotate(peak=Max(_columns(measure, plan)[1]))
    found = list(ranked.order_by(peak, *names)[: NAMES_MAX + 1])
    seen = [tuple(row[name] for name in names) for row in found[:NAMES_MAX] if sees(_Named(row))]
    return seen[:SERIES_MAX], len(found) <= NAMES_MAX and len(seen) <= SERIES_MAX


class _Named:
    """A row of names, for a look at grants."""

    def __init__(self, row: Mapping[str, str]) -> None:
        self.topic, self.group = row.get("topic"), row.get("group")


def _series(
    rows: Any, measure: Measure, plan: Steps, names: Sequence[str], chosen: list[tuple[str, ...]]
) -> list[dict[str, Any]]:
    typical, highest = _columns(measure, plan)
    known = Count(typical) if plan.source == WINDOWS else Sum(measure.known)
    for at, name in enumerate(names):
        rows = rows.filter(**{f"{name}__in": {found[at] for found in chosen}})
    step_ms = plan.step_s * 1000
    summed = (
        rows.annotate(at_ms=F("ts_ms") - F("ts_ms") % step_ms)
        .values(*names, "at_ms")
        .annotate(typical=Avg(typical), highest=Max(highest), known=known)
        .order_by()
    )
    points: dict[tuple[str, ...], dict[int, Mapping[str, Any]]] = {key: {} for key in chosen}
    for row in summed.iterator():
        key = tuple(row[name] for name in names)
        if key in points:
            points[key][row["at_ms"]] = row
    windows = plan.step_s // Rules().window_s
    return [
        {
            "topic": dict(zip(names, key, strict=True)).get("topic"),
            "group": dict(zip(names, key, strict=True)).get("group"),
            "typical": [_at(found, at, "typical") for at in plan.ts_ms],
            "highest": [_at(found, at, "highest") for at in plan.ts_ms],
            "known": [min(1.0, (_at(found, at, "known") or 0) / windows) for at in plan.ts_ms],
        }
        for key, found in points.items()
    ]


def _at(found: Mapping[int, Mapping[str, Any]], at_ms: int, name: str) -> float | None:
    row = found.get(at_ms)
    return None if row is None else row[name]
