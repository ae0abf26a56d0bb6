"""Bronze that is new → the hours of silver that it touches, each written anew in one commit.

A window keeps its last whole slice. Taking the same slices once more changes nothing, so a run that
is killed anywhere is simply run again.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import defaultdict
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import ClusterResult
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC
from spark_analytics.io import cursors, history
from spark_analytics.io import lake as lakes
from spark_analytics.io.cursors import Cursor
from spark_analytics.io.tables import SILVER_GROUP, SILVER_TOPIC
from spark_analytics.jobs.intake import intake
from spark_analytics.jobs.ranges import start_ms
from spark_analytics.jobs.silver import (
    bounded_bronze,
    bronze_days,
    groups_back_ms,
    is_bounded,
    topics_back_ms,
)
from spark_analytics.transforms.snapshots import (
    chunked,
    group_slices,
    incomplete,
    topic_slices,
)
from spark_analytics.transforms.telemetry import REJECTED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import DataFrame

    from spark_analytics.contracts.runs import ClusterInput, RunConfig
    from spark_analytics.io.history import Step
    from spark_analytics.io.lake import Lake
    from spark_analytics.io.tables import Table

FILES_MAX = 4
"""Of one hour of one cluster, at most."""
_WINDOW = ("cluster_id", "topic", "window_ms")


def absorb(
    lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]
) -> dict[str, ClusterResult]:
    """Bring silver up to what bronze has of these clusters; what was new of each.

    Of a bounded cluster nothing is absorbed, and what the bounds leave is what it is said to read.
    """
    known = cursors.read(lake)
    bounded = [cluster for cluster in clusters if is_bounded(config, cluster)]
    found = intake(bounded_bronze(lake, config, bounded), bounded).results if bounded else {}
    alike: dict[int | None, list[ClusterInput]] = defaultdict(list)
    for cluster in clusters:
        if cluster not in bounded:
            alike[_since(known.get(cluster.cluster_id), config, cluster)].append(cluster)
            found[cluster.cluster_id] = _nothing(known, cluster)
    for since, together in alike.items():
        for step in history.steps(lake, since):
            taken = _take(lake, config, step, together, found)
            for cluster in together:
                key = cluster.cluster_id
                found[key] = _added(found[key], taken.get(key))
                known[key] = Cursor(
                    snapshot=step.end,
                    from_ms=_from_ms(known.get(key), config, cluster),
                    ends=found[key].offsets_end,
                    topic_id=_topic_id(known.get(key), cluster),
                )
            cursors.write(lake, known)
    return found


def _since(cursor: Cursor | None, config: RunConfig, cluster: ClusterInput) -> int | None:
    """None where silver may lack what the run asks for, so that all of it is taken again."""
    if cursor is None or config.start_of(cluster) < cursor.from_ms:
        return None
    return cursor.snapshot


def _from_ms(cursor: Cursor | None, config: RunConfig, cluster: ClusterInput) -> int:
    start = config.start_of(cluster)
    return start if cursor is None else min(start, cursor.from_ms)


def _topic_id(cursor: Cursor | None, cluster: ClusterInput) -> str | None:
    return cluster.telemetry_topic_id or (None if cursor is None else cursor.topic_id)


def _nothing(known: Mapping[str, Cursor], cluster: ClusterInput) -> ClusterResult:
    """The offsets of a topic that is not there any more say nothing of the one that is."""
    cursor = known.get(cluster.cluster_id)
    seen = None if cursor is None else cursor.topic_id
    is_another = seen is not None and _topic_id(cursor, cluster) != seen
    return ClusterResult(
        cluster_id=cluster.cluster_id,
        offsets_end={} if cursor is None or is_another else cursor.ends,
        telemetry_recreated=is_another,
    )


def _added(before: ClusterResult, taken: ClusterResult | None) -> ClusterResult:
    if taken is None:
        return before
    ends = dict(before.offsets_end)
    for partition, end in taken.offsets_end.items():
        ends[partition] = max(end, ends.get(partition, 0))
    return dataclasses.replace(
        before,
        offsets_end=ends,
        records_in=before.records_in + taken.records_in,
        records_rejected=before.records_rejected + taken.records_rejected,
        records_skipped=before.records_skipped + taken.records_skipped,
    )


def _take(
    lake: Lake,
    config: RunConfig,
    step: Step,
    clusters: Sequence[ClusterInput],
    before: Mapping[str, ClusterResult],
) -> dict[str, ClusterResult]:
    """Absorb one step; what it held of each cluster after what was found `before`."""
    if step.records == 0:
        return {}
    mine = F.col("cluster").isin([cluster.cluster_id for cluster in clusters])
    rows = history.read(lake, step).filter(mine)
    topics_from, groups_from = F.lit(0), F.lit(0)
    if step.start is None:
        rows = rows.filter(bronze_days(config))
        topics_from = start_ms(config) - topics_back_ms(config.rules)
        groups_from = start_ms(config) - groups_back_ms(config.rules)
    ends = {key: result.offsets_end for key, result in before.items()}
    taken = intake(rows, clusters, ends)
    if taken.hours:
        if taken.has_chunks:
            rows = _with_chunks_before(lake, step, rows, clusters)
        width = Rules().window_s
        of_topics = lakes.sampled(rows, KIND_TOPIC, topics_from, None)
        of_groups = lakes.sampled(rows, KIND_GROUP, groups_from, None)
        topics = topic_slices(of_topics, width, has_chunks=taken.has_chunks)
        groups = group_slices(of_groups, width, has_chunks=taken.has_chunks)
        merge(lake, SILVER_TOPIC, topics, _WINDOW, taken.hours)
        merge(lake, SILVER_GROUP, groups, ("group", *_WINDOW), taken.hours)
    return taken.results


def _with_chunks_before(
    lake: Lake, step: Step, rows: DataFrame, clusters: Sequence[ClusterInput]
) -> DataFrame:
    """The rows of a step, and the chunks that came before it of slices that it has the rest of."""
    if step.start is None:
        return rows
    torn = _torn(rows).persist()
    try:
        bounds = torn.agg(F.min("ts_ms").alias("first"), F.max("ts_ms").alias("last")).first()
        if bounds is None or bounds["first"] is None:
            return rows
        mine = F.col("cluster").isin([cluster.cluster_id for cluster in clusters])
        near = F.col("ts_ms").between(int(bounds["first"]), int(bounds["last"]))
        before = history.read(lake, dataclasses.replace(step, start=None)).filter(
            mine & near & (F.col("part") != REJECTED)
        )
        # Of these slices alone: others lie in hours that the step does not touch.
        same = [F.col(f"b.{name}").eqNullSafe(F.col(f"t.{name}")) for name in _SLICE]
        wanted = (
            chunked(before)
            .alias("b")
            .join(F.broadcast(torn.alias("t")), on=reduce(operator.and_, same), how="left_semi")
        )
        # What is of the step itself comes twice so, and falls away.
        return rows.unionByName(wanted)
    finally:
        torn.unpersist()


_SLICE = ("cluster", "part", "topic", "group", "ts_ms")


def _torn(rows: DataFrame) -> DataFrame:
    """The slices of which a chunk is missing, by what names one."""
    accepted = rows.filter(F.col("part") != REJECTED)
    return incomplete(accepted, *_SLICE[:-1]).select(*_SLICE)


def merge(
    lake: Lake,
    table: Table,
    fresh: DataFrame,
    window: Sequence[str],
    hours: Mapping[str, Collection[datetime]],
) -> None:
    """Write these hours of these clusters anew: of each window the slice that is younger.

    `window` are the columns that name one window of one series of slices; all of `fresh` lies in
    these hours. One commit for all of them.
    """
    fresh = fresh.withColumn("window_at", F.timestamp_millis("window_ms"))
    rows = fresh
    if lake.loaded(table).currentSnapshot() is not None:
        rows = _youngest(_touched(lake, table, hours), fresh, window)
    rows.select(*table.columns).coalesce(FILES_MAX).writeTo(table.path).overwritePartitions()


def _touched(lake: Lake, table: Table, hours: Mapping[str, Collection[datetime]]) -> DataFrame:
    pairs = [(cluster_id, hour) for cluster_id, mine in hours.items() for hour in sorted(mine)]
    first, last = min(hour for _, hour in pairs), max(hour for _, hour in pairs)
    at = F.col("window_at")
    near = (at >= F.lit(first)) & (at < F.lit(last) + F.expr("interval 1 hour"))
    mine = F.col("cluster_id").isin(sorted(hours))
    of_one = F.date_trunc("hour", at)
    these = F.struct("cluster_id", of_one).isin([F.struct(F.lit(c), F.lit(h)) for c, h in pairs])
    return lake.read(table).filter(near & mine & these)


def _youngest(touched: DataFrame, fresh: DataFrame, window: Sequence[str]) -> DataFrame:
    """Of each window every row of the youngest slice; of one that is there twice the one that
    was there.
    """
    there = touched.withColumn("was_there", F.lit(1)).unionByName(
        fresh.withColumn("was_there", F.lit(0))
    )
    age = F.struct("ts_ms", "kafka_offset", "was_there")
    return (
        there.withColumn("age", age)
        .withColumn("head", F.max("age").over(Window.partitionBy(*window)))
        .filter(F.col("age") == F.col("head"))
        .drop("age", "head", "was_there")
    )
