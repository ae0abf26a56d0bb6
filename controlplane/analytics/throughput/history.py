"""Throughput of longer ranges: what Spark rolled up by hours and days, as rates by period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from controlplane.analytics.rollup_models import (
    GoldClusterRollup,
    GoldGroupRollup,
    GoldPartitionRollup,
    GoldTopicRollup,
)
from controlplane.analytics.throughput.packed import periods_of, rates_in, shard_of
from controlplane.analytics.throughput.rates import Key, Rates, rates_of, summed
from spark_analytics.contracts.gold import DAY_S, HOUR_S
from spark_analytics.contracts.rules import Rules

HOURS_UP_TO_S = 14 * DAY_S
ROWS_MAX = 50_000
"""Of one answer: a group on a hundred topics has 36,000 hours in 15 days."""
SHARD_ROWS_MAX = 2_000
"""Of one answer about a topic's partitions: a million of them in as many periods at the most."""
CLUSTER, TOPICS, GROUPS = "cluster", "topics", "groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Rates by series and by the beginnings of periods.

    Attributes:
        newest_ms: the last sample of the newest period of the cluster; None: there is none.
        last_ms: when that period began.
        whole: no row was left out.
    """

    period_s: int
    newest_ms: int | None
    last_ms: int
    rates: Mapping[Key, Mapping[int, Rates]]
    whole: bool = True


def period_for(span_s: int) -> int:
    return HOUR_S if span_s <= HOURS_UP_TO_S else DAY_S


def history(
    cluster_id: str,
    series: str,
    *,
    span_s: int,
    topic: str | None = None,
    group: str | None = None,
    sees: Callable[[Any], bool],
) -> History:
    """Of the cluster, a topic, or a group by topics, back from the newest period that there is."""
    model, key_of, rates_of = _SERIES[series]
    period_s = period_for(span_s)
    every: QuerySet[Any] = model._default_manager.filter(  # noqa: SLF001 - Django's documented name
        cluster_id=cluster_id, period_s=period_s
    )
    newest = newest_of(model, cluster_id, period_s)
    if newest.newest_ms is None:
        return newest
    given = {"topic": topic, "group": group}
    mine = {name: value for name, value in given.items() if value is not None}
    since_ms = newest.last_ms - span_s * 1000
    rows = list(every.filter(ts_ms__gte=since_ms, **mine).order_by("-ts_ms")[: ROWS_MAX + 1])
    found: dict[Key, dict[int, Rates]] = {}
    for row in rows[:ROWS_MAX]:
        if sees(row):
            found.setdefault(key_of(row), {})[row.ts_ms] = rates_of(row)
    return replace(newest, rates=found, whole=len(rows) <= ROWS_MAX)


def newest_of(model: Any, cluster_id: str, period_s: int) -> History:
    """How far the periods of a cluster reach, without their rates."""
    every = model._default_manager.filter(cluster_id=cluster_id, period_s=period_s)  # noqa: SLF001 - Django's documented name
    newest = every.order_by("-ts_ms").values("ts_ms", "sampled_ms").first()
    if newest is None:
        return History(period_s=period_s, newest_ms=None, last_ms=0, rates={})
    return History(
        period_s=period_s, newest_ms=newest["sampled_ms"], last_ms=newest["ts_ms"], rates={}
    )


def partitions(cluster_id: str, topic: str, partition: int | None, *, span_s: int) -> History:
    """Of one partition of a topic, or of all, back from the newest period that there is."""
    period_s = period_for(span_s)
    newest = newest_of(GoldPartitionRollup, cluster_id, period_s)
    if newest.newest_ms is None:
        return newest
    rows = shards(cluster_id, topic, partition, period_s, newest.last_ms - span_s * 1000)
    found: dict[Key, dict[int, Rates]] = {}
    for row in rows[:SHARD_ROWS_MAX]:
        for number, period in periods_of(row, partition):
            key: Key = ("p", topic, number)
            found.setdefault(key, {})[row.ts_ms] = rates_in(period, period_s)
    return replace(newest, rates=found, whole=len(rows) <= SHARD_ROWS_MAX)


def shards(
    cluster_id: str, topic: str, partition: int | None, period_s: int, since_ms: int
) -> list[GoldPartitionRollup]:
    """Rows since then, the newest first; one more than are used where there are more."""
    rows = GoldPartitionRollup.objects.filter(
        cluster_id=cluster_id, topic=topic, period_s=period_s, ts_ms__gte=since_ms
    )
    if partition is not None:
        rows = rows.filter(shard=shard_of(partition))
    return list(rows.order_by("-ts_ms", "shard")[: SHARD_ROWS_MAX + 1])


def with_readers(
    topic: Mapping[int, Rates], readers: Iterable[Mapping[int, Rates]]
) -> dict[int, Rates]:
    """A topic's periods with what its groups read in them."""
    groups = list(readers)
    found = {}
    for ts_ms, rates in topic.items():
        read = summed(each[ts_ms] for each in groups if ts_ms in each)
        found[ts_ms] = rates._replace(records_out=read.records_out, bytes_out=read.bytes_out)
    return found


def _of_cluster(row: GoldClusterRollup) -> Rates:
    sampled_s = row.samples * Rules().window_s
    if sampled_s <= 0:
        return Rates()
    each = (row.records_in, row.bytes_in, row.records_out, row.bytes_out)
    rates = [None if count is None else count / sampled_s for count in each]
    return rates_of(rates, _share(row))


def _of_topic(row: GoldTopicRollup) -> Rates:
    return Rates(
        records_in=row.produce_records_per_s,
        bytes_in=_bytes(row.produce_records_per_s, row.records_in, row.bytes_in),
        known=_share(row),
    )


def _of_group(row: GoldGroupRollup) -> Rates:
    return Rates(
        records_in=row.produce_records_per_s,
        records_out=row.consume_records_per_s,
        bytes_out=_bytes(row.consume_records_per_s, row.records_out, row.bytes_out),
        known=_share(row),
    )


def _bytes(per_s: float | None, records: int | None, size: int | None) -> float | None:
    """A rate of records by the mean size of the period's; of none there are no bytes."""
    if per_s is None or size is None or records is None:
        return None
    return per_s * size / records if records > 0 else 0.0


def _share(row: Any) -> float:
    return min(1.0, row.samples / row.expected) if row.expected > 0 else 0.0


_SERIES: Mapping[str, tuple[Any, Callable[[Any], Key], Callable[[Any], Rates]]] = {
    CLUSTER: (GoldClusterRollup, lambda _row: ("c",), _of_cluster),
    TOPICS: (GoldTopicRollup, lambda row: ("t", row.topic), _of_topic),
    GROUPS: (GoldGroupRollup, lambda row: ("g", row.group, row.topic), _of_group),
}
