"""Throughput of one subject over a range, as a reader sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.analytics import known
from controlplane.analytics.rollup_models import GoldClusterRollup
from controlplane.analytics.throughput import history
from controlplane.analytics.throughput.drawing import (
    Grid,
    Values,
    drawn,
    grid,
    peak,
    without_out,
)
from controlplane.analytics.throughput.rates import Key, Rates
from controlplane.analytics.throughput.store import (
    EVERY,
    HOUR_S,
    KEPT_S,
    STALE_AFTER_S,
    STEP_MS,
    Steps,
    named,
    steps,
)
from controlplane.analytics.throughput_models import GROUPS, OUTLINE, PARTITIONS, TOPICS
from controlplane.analytics.times import iso_ms
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound, field_problem
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import HOUR_S as PERIOD_MIN_S
from spark_analytics.contracts.gold import PARTITIONS_MAX

CLUSTER, BROKER, TOPIC, GROUP, PARTITION = SUBJECTS = (
    "cluster",
    "broker",
    "topic",
    "group",
    "partition",
)
KINDS: Mapping[str, str] = {
    CLUSTER: OUTLINE,
    BROKER: OUTLINE,
    TOPIC: TOPICS,
    GROUP: GROUPS,
    PARTITION: PARTITIONS,
}
RANGES_S: Mapping[str, int] = {
    "1h": HOUR_S,
    "6h": 6 * HOUR_S,
    "24h": 24 * HOUR_S,
    "7d": 7 * 24 * HOUR_S,
    "30d": 30 * 24 * HOUR_S,
    "90d": 90 * 24 * HOUR_S,
}
LIVE_ALONE = (BROKER,)
"""Spark rolls up no brokers."""
SERIES_SHOWN = 50
"""Of one answer: the busiest."""
PERIODS_STALE = 2.5
"""Periods after which the next one should have come."""
SAMPLES, HOURS, DAYS = SOURCES = ("samples", "hours", "days")
PERIOD_SOURCES = [HOURS, DAYS]
NO_TOTALS = "There are no totals of this cluster for you."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What about; `broker`, `topic`, `group`, `partition` name it.

    Without `broker` or `partition` all brokers or all partitions of the topic are meant.
    """

    of: str
    range: str
    points: int
    broker: int | None = None
    topic: str | None = None
    group: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Rates by series over `at`; with `newest_ms` None there is nothing yet."""

    source: str
    at: Grid | None
    newest_ms: int | None
    stale_after_s: float
    rates: Mapping[Key, Mapping[int, Rates]]
    reason: str | None = None


def throughput(tenant: Tenant, scope: Scope, cluster_id: str, question: Question) -> dict[str, Any]:
    """{of, range, source, as_of, stale_after, from, to, step_s, complete, reason, ts_ms, series}.

    Raises:
        NotFound: the subject is not there for this caller.
        Invalid: the subject is not kept for as long as the range.
    """
    cluster = seen_cluster(tenant, scope, cluster_id)
    _require(tenant, scope, cluster, question)
    span_s = RANGES_S[question.range]
    if span_s <= KEPT_S[KINDS[question.of]]:
        found = _live(scope, cluster, question, span_s)
    elif question.of in LIVE_ALONE:
        hours = KEPT_S[KINDS[question.of]] // HOUR_S
        raise field_problem("/range", f"Of a {question.of} at most the last {hours} h are kept.")
    elif question.of == PARTITION:
        found = _partitions(cluster, question, span_s)
    else:
        found = _rolled_up(scope, cluster, question, span_s)
    return _answer(scope, cluster, question, found)


# -- who sees what --------------------------------------------------------------------------
def _require(tenant: Tenant, scope: Scope, cluster: Cluster, question: Question) -> None:
    if question.of in (CLUSTER, BROKER):
        if not scope.sees(Area.CLUSTER, cluster.name):
            raise NotFound(NO_TOTALS)
    elif question.of == GROUP:
        known.require_group(tenant, scope, cluster.id, question.group or "")
    else:
        known.require_topic(tenant, scope, cluster.id, question.topic or "")


def sees_topic(scope: Scope, cluster: Cluster, name: str) -> bool:
    return scope.sees(Area.TOPIC, cluster.name, name)


# -- reading --------------------------------------------------------------------------------
def kept(cluster_id: str, of: str, names: Collection[Any] | None, span_s: int) -> Steps:
    """Steps of the subject's kind, from a little before the span's beginning."""
    wanted = EVERY if names is None else named(names)
    newest = steps(cluster_id, KINDS[of], wanted=named(()), since_ms=0).newest_ms
    since_ms = 0 if newest is None else newest - (span_s + STALE_AFTER_S) * 1000
    return steps(cluster_id, KINDS[of], wanted=wanted, since_ms=since_ms)


def live_grid(found: Steps, span_s: int, points: int) -> Grid | None:
    if found.newest_ms is None:
        return None
    return grid(newest_ms=found.newest_ms, span_ms=span_s * 1000, period_ms=STEP_MS, points=points)


def _live(scope: Scope, cluster: Cluster, question: Question, span_s: int) -> _Found:
    found = kept(cluster.id, question.of, _names_of(question), span_s)
    rates = {
        key: each
        for key, each in found.rates.items()
        if _is_asked(key, question) and (key[0] != "g" or sees_topic(scope, cluster, key[2]))
    }
    return _Found(
        source=SAMPLES,
        at=live_grid(found, span_s, question.points),
        newest_ms=found.newest_ms,
        stale_after_s=STALE_AFTER_S,
        rates=rates,
        reason=f"Not kept: the cluster has too many {KINDS[question.of]}."
        if found.left_out
        else None,
    )


def _names_of(question: Question) -> set[Any] | None:
    if question.of in (CLUSTER, BROKER):
        return None
    return {question.group if question.of == GROUP else question.topic}


def _is_asked(key: Key, question: Question) -> bool:
    if question.of == CLUSTER:
        return key == ("c",)
    if question.of == BROKER:
        return key[0] == "b" and question.broker in (None, key[1])
    if question.of == PARTITION:
        return question.partition in (None, key[2])
    return True


def _rolled_up(scope: Scope, cluster: Cluster, question: Question, span_s: int) -> _Found:
    series = {CLUSTER: history.CLUSTER, TOPIC: history.TOPICS, GROUP: history.GROUPS}[question.of]
    found = history.history(
        cluster.id,
        series,
        span_s=span_s,
        topic=question.topic if question.of == TOPIC else None,
        group=question.group if question.of == GROUP else None,
        sees=lambda row: question.of != GROUP or sees_topic(scope, cluster, row.topic),
    )
    rates = dict(found.rates)
    if question.of == TOPIC and rates and scope.sees(Area.CLUSTER, cluster.name):
        readers = history.history(
            cluster.id,
            history.GROUPS,
            span_s=span_s,
            topic=question.topic,
            sees=lambda _row: True,
        )
        key = ("t", question.topic)
        rates[key] = history.with_readers(rates[key], readers.rates.values())
    return _of_periods(found, question, span_s, rates, _left_out(found))


def _partitions(cluster: Cluster, question: Question, span_s: int) -> _Found:
    found = history.partitions(cluster.id, question.topic or "", question.partition, span_s=span_s)
    reason = _left_out(found)
    if not found.rates and found.newest_ms is not None:
        reason = partitions_left_out(cluster.id, found.period_s)
    return _of_periods(found, question, span_s, found.rates, reason)


def partitions_left_out(cluster_id: str, period_s: int) -> str | None:
    """Why a topic's partitions may have no periods; null where all of the cluster's have some."""
    newest = GoldClusterRollup.objects.filter(cluster_id=cluster_id, period_s=period_s)
    count = newest.order_by("-ts_ms").values_list("partitions", flat=True).first() or 0
    if count <= PARTITIONS_MAX:
        return None
    return (
        f"Hours and days are kept of {PARTITIONS_MAX:,} partitions, those of the busiest topics:"
        f" the cluster has {count:,}."
    )


def _left_out(found: history.History) -> str | None:
    return None if found.whole else "More rows than one answer reads: the oldest are left out."


def _of_periods(
    found: history.History,
    question: Question,
    span_s: int,
    rates: Mapping[Key, Mapping[int, Rates]],
    reason: str | None,
) -> _Found:
    return _Found(
        source=source_of(found.period_s),
        at=periods_grid(found, span_s, question.points),
        newest_ms=found.newest_ms,
        stale_after_s=PERIODS_STALE * found.period_s,
        rates=rates,
        reason=reason,
    )


def source_of(period_s: int) -> str:
    return HOURS if period_s == PERIOD_MIN_S else DAYS


def periods_grid(found: history.History, span_s: int, points: int) -> Grid | None:
    if found.newest_ms is None:
        return None
    return grid(
        newest_ms=found.last_ms,
        span_ms=span_s * 1000,
        period_ms=found.period_s * 1000,
        points=points,
    )


# -- answering ------------------------------------------------------------------------------
def _answer(scope: Scope, cluster: Cluster, question: Question, found: _Found) -> dict[str, Any]:
    series = [] if found.at is None else _series(scope, cluster, question, found, found.at)
    at = found.at
    return {
        "of": question.of,
        "range": question.range,
        "source": found.source,
        **age(found.newest_ms, found.stale_after_s),
        "from": iso_ms(at.from_ms) if at else None,
        "to": iso_ms(at.to_ms) if at else None,
        "step_s": at.step_ms // 1000 if at else STEP_MS // 1000,
        "complete": found.reason is None and len(series) <= SERIES_SHOWN,
        "reason": found.reason,
        "ts_ms": list(at.ts_ms) if at else [],
        "series": series[:SERIES_SHOWN],
    }


def _series(
    scope: Scope, cluster: Cluster, question: Question, found: _Found, at: Grid
) -> list[dict[str, Any]]:
    """The busiest first; those of a part of the cluster say nothing of what others read."""
    cut = question.of in (TOPIC, PARTITION) and not scope.sees(Area.CLUSTER, cluster.name)
    rows = []
    for key, rates in found.rates.items():
        values = drawn(at, rates)
        rows.append({**_named(key), **(without_out(values) if cut else values)})
    return sorted(rows, key=lambda row: (-peak(_values(row)), _order(row)))


def _values(row: dict[str, Any]) -> Values:
    return row


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    numbers = (row["broker"], row["partition"])
    return (*(-1 if number is None else number for number in numbers), row["topic"] or "")


def _named(key: Key) -> dict[str, Any]:
    """{broker, topic, group, partition}; null where that is not what the series is of."""
    kind, *names = key
    fields = {"c": (), "b": ("broker",), "t": ("topic",), "g": ("group", "topic"),
              "p": ("topic", "partition")}[kind]  # fmt: skip
    return {
        "broker": None,
        "topic": None,
        "group": None,
        "partition": None,
        **dict(zip(fields, names, strict=True)),
    }


def age(newest_ms: int | None, stale_after_s: float) -> dict[str, Any]:
    if newest_ms is None:
        return {"as_of": None, "stale_after": None}
    return {
        "as_of": iso_ms(newest_ms),
        "stale_after": iso_ms(newest_ms + int(stale_after_s * 1000)),
    }
