"""Reads of the rollups, one tenant at a time: by the hour or the day, as an answer or a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet

from controlplane.analytics.answers import all_but, shown
from controlplane.analytics.rollup_models import (
    GoldClusterRollup,
    GoldGroupRollup,
    GoldTopicRollup,
)
from controlplane.analytics.times import iso_ms
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import (
    CLUSTER_ROLLUP,
    DAY_S,
    GROUP_ROLLUP,
    HOUR_S,
    ROLLUP_FORMULA_VERSION,
    TOPIC_ROLLUP,
    Column,
    GoldTable,
)

POINTS_MAX = 400
"""Of one series; a range with more hours is answered by days, which are exact and not thinned."""
ROWS_MAX = 20_000
"""Of one answer, over all its series."""
EXPORT_ROWS_MAX = 100_000
BATCH = 1_000
SPAN_DEFAULT_S = 7 * DAY_S
PERIODS: Mapping[str, int] = {"hour": HOUR_S, "day": DAY_S}

Rows = QuerySet[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What there is a rollup of."""

    table: GoldTable
    model: type[GoldGroupRollup | GoldTopicRollup | GoldClusterRollup]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that an answer shows."""
        return all_but(self.table, "cluster_id", "period_s", "ts_ms", "sampled_ms")


SERIES: Mapping[str, Series] = {
    "cluster": Series(table=CLUSTER_ROLLUP, model=GoldClusterRollup, names=()),
    "topics": Series(table=TOPIC_ROLLUP, model=GoldTopicRollup, names=("topic",)),
    "groups": Series(table=GROUP_ROLLUP, model=GoldGroupRollup, names=("topic", "group")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Periods that begin in [from_ms, to_ms); a bound of None is found from the newest row."""

    series: str
    period: str | None = None
    topic: str | None = None
    group: str | None = None
    from_ms: int | None = None
    to_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`rows` ascend in time; `newest` is the newest of the whole cluster."""

    rows: Rows
    period_s: int
    newest: Any


def found(cluster_id: str, question: Question) -> Found:
    """The rows that a question is about, whoever asks."""
    series = SERIES[question.series]
    every = series.model._default_manager.filter(cluster_id=cluster_id)  # noqa: SLF001 - Django's documented name
    end_ms = question.to_ms
    if end_ms is None:
        last_ms = every.aggregate(at=Max("ts_ms"))["at"]
        end_ms = 0 if last_ms is None else last_ms + 1
    begin_ms = end_ms - SPAN_DEFAULT_S * 1000 if question.from_ms is None else question.from_ms
    period_s = PERIODS[question.period] if question.period else period_for(end_ms - begin_ms)
    mine = every.filter(period_s=period_s)
    newest = mine.order_by("-ts_ms").first()
    rows = mine.filter(ts_ms__gte=begin_ms - begin_ms % (period_s * 1000), ts_ms__lt=end_ms)
    for name in series.names:
        asked = getattr(question, name)
        if asked is not None:
            rows = rows.filter(**{name: asked})
    return Found(rows=rows.order_by("ts_ms", "pk"), period_s=period_s, newest=newest)


def period_for(span_ms: int) -> int:
    """The shortest period of which a series has at most `POINTS_MAX` in the span, in seconds."""
    return HOUR_S if span_ms <= POINTS_MAX * HOUR_S * 1000 else DAY_S


def answer(tenant: Tenant, scope: Scope, cluster_id: str, question: Question) -> dict[str, Any]:
    """{as_of, run_id, formula_version, period_s, complete, data}, at most `ROWS_MAX` rows."""
    sees = sight(tenant, scope, cluster_id, question.series)
    asked = found(cluster_id, question)
    rows = list(asked.rows[: ROWS_MAX + 1])
    return {
        "as_of": iso_ms(asked.newest.sampled_ms) if asked.newest else None,
        "run_id": asked.newest.run_id if asked.newest else None,
        "formula_version": ROLLUP_FORMULA_VERSION,
        "period_s": asked.period_s,
        "complete": len(rows) <= ROWS_MAX,
        "data": [row_dict(question.series, row) for row in rows[:ROWS_MAX] if sees(row)],
    }


def exported(
    tenant: Tenant, scope: Scope, cluster_id: str, question: Question
) -> Iterator[list[dict[str, Any]]]:
    """The same rows in batches, at most `EXPORT_ROWS_MAX`."""
    sees = sight(tenant, scope, cluster_id, question.series)
    rows = found(cluster_id, question).rows[:EXPORT_ROWS_MAX]
    batch = []
    for row in rows.iterator(BATCH):
        if sees(row):
            batch.append(row_dict(question.series, row))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def row_dict(series: str, row: Any) -> dict[str, Any]:
    return {
        "ts": iso_ms(row.ts_ms),
        "sampled_at": iso_ms(row.sampled_ms),
        **shown(row, SERIES[series].columns),
    }


def sight(tenant: Tenant, scope: Scope, cluster_id: str, series: str) -> Any:
    """Whether a row may be shown: its topic and its group must be seen, of totals the cluster.

    Raises:
        NotFound: the cluster is not the tenant's, or its totals are not for this caller.
    """
    name = seen_cluster(tenant, scope, cluster_id, with_brokers=False).name
    names = SERIES[series].names
    if not names and not scope.sees(Area.CLUSTER, name):
        raise NotFound("There are no totals of this cluster for you.")
    areas = {"topic": Area.TOPIC, "group": Area.GROUP}

    def sees(row: Any) -> bool:
        return all(scope.sees(areas[each], name, getattr(row, each)) for each in names)

    return sees
