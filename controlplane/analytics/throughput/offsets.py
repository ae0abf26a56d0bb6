"""Where a log begins and ends over time: what retention took, and what came after it.

Of hours and days, as Spark left them. Of a topic its partitions' offsets are added: how far both
lines are apart is how many records it held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.analytics import known
from controlplane.analytics.models import GoldPartitionRollup, GoldTopicRollup
from controlplane.analytics.throughput import history
from controlplane.analytics.throughput.drawing import Grid
from controlplane.analytics.throughput.packed import periods_of
from controlplane.analytics.throughput.selectors import (
    PARTITION,
    PERIODS_STALE,
    RANGES_S,
    TOPIC,
    age,
    partitions_left_out,
    periods_grid,
    source_of,
)
from controlplane.analytics.times import iso_ms
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import HOUR_S

RANGES = [name for name, span_s in RANGES_S.items() if span_s > HOUR_S]
"""Of an hour there is one point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """At the end of a period; None is unknown."""

    start_offset: int | None
    end_offset: int | None
    size_bytes: int | None


def offsets(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    *,
    topic: str,
    partition: int | None,
    range_: str,
    points: int,
) -> dict[str, Any]:
    """{of, range, source, as_of, stale_after, from, to, step_s, reason, ts_ms, start_offset,
    end_offset, bytes}: of each step the last that is known; null where nothing is.

    Raises:
        NotFound: the topic is not there for this caller.
    """
    cluster = seen_cluster(tenant, scope, cluster_id)
    known.require_topic(tenant, scope, cluster.id, topic)
    span_s = RANGES_S[range_]
    found, newest = _read(cluster.id, topic, partition, span_s)
    at = periods_grid(newest, span_s, points)
    reason = None
    if not found and newest.newest_ms is not None and partition is not None:
        reason = partitions_left_out(cluster.id, newest.period_s)
    drawn = lasts(at, found) if at else []
    return {
        "of": TOPIC if partition is None else PARTITION,
        "range": range_,
        "source": source_of(newest.period_s),
        **age(newest.newest_ms, PERIODS_STALE * newest.period_s),
        "from": iso_ms(at.from_ms) if at else None,
        "to": iso_ms(at.to_ms) if at else None,
        "step_s": at.step_ms // 1000 if at else newest.period_s,
        "reason": reason,
        "ts_ms": list(at.ts_ms) if at else [],
        "start_offset": [one and one.start_offset for one in drawn],
        "end_offset": [one and one.end_offset for one in drawn],
        "bytes": [one and one.size_bytes for one in drawn],
    }


def _read(
    cluster_id: str, topic: str, partition: int | None, span_s: int
) -> tuple[dict[int, At], history.History]:
    """By the beginnings of periods, and how far those of the cluster reach."""
    if partition is not None:
        newest = history.newest_of(GoldPartitionRollup, cluster_id, history.period_for(span_s))
        rows = history.shards(
            cluster_id, topic, partition, newest.period_s, newest.last_ms - span_s * 1000
        )
        return dict(_of_partition(rows, partition)), newest
    newest = history.newest_of(GoldTopicRollup, cluster_id, history.period_for(span_s))
    topics = GoldTopicRollup.objects.filter(
        cluster_id=cluster_id,
        topic=topic,
        period_s=newest.period_s,
        ts_ms__gte=newest.last_ms - span_s * 1000,
    ).order_by("-ts_ms")[: history.SHARD_ROWS_MAX]
    found = {
        row.ts_ms: At(
            start_offset=row.start_offset, end_offset=row.end_offset, size_bytes=row.bytes_last
        )
        for row in topics
    }
    return found, newest


def _of_partition(rows: Iterable[Any], partition: int) -> Iterable[tuple[int, At]]:
    for row in rows:
        for _, period in periods_of(row, partition):
            yield (
                row.ts_ms,
                At(
                    start_offset=period.start_offset,
                    end_offset=period.end_offset,
                    size_bytes=period.bytes_last,
                ),
            )


def lasts(at: Grid, found: Mapping[int, At]) -> list[At | None]:
    """Of each step the last period that there is."""
    steps: list[At | None] = [None for _ in at.ts_ms]
    for ts_ms, one in sorted(found.items()):
        if at.from_ms <= ts_ms < at.to_ms:
            steps[(ts_ms - at.from_ms) // at.step_ms] = one
    return steps
