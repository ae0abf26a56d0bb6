"""Gold: each cluster by the hour or day, from the windows and rollups of its topics and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.transforms.group_rollup import group_windows
from spark_analytics.transforms.periods import Periods, held_aggregates, lag_aggregates, sum_of_all
from spark_analytics.transforms.topic_rollup import topic_windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY = ("cluster_id", "period_ms")


def cluster_rollup(
    topics: DataFrame,
    lags: DataFrame,
    topic_rows: DataFrame,
    group_rows: DataFrame,
    periods: Periods,
) -> DataFrame:
    """Topics by partition, `judging.LAGS` and the rollups of both → `schemas.CLUSTER_ROLLUP`.

    `lag_records` of a window is over all groups that have committed, unknown when one's is;
    `lag_seconds` that of the group that is latest. Sums are null when a part is unknown.
    """
    windows = (
        _windows(topics, lags, periods)
        .groupBy(*_KEY)
        .agg(
            F.max("sampled_ms").alias("sampled_ms"),
            F.count(F.lit(1)).cast("int").alias("samples"),
            F.max("partitions").alias("partitions"),
            *lag_aggregates(),
            *held_aggregates(),
        )
    )
    of_topics = topic_rows.groupBy("cluster_id", F.col("ts_ms").alias("period_ms")).agg(
        F.count(F.lit(1)).cast("int").alias("topics"),
        *(sum_of_all(name).alias(name) for name in ("records_in", "bytes_in")),
    )
    of_groups = group_rows.groupBy("cluster_id", F.col("ts_ms").alias("period_ms")).agg(
        F.count_distinct("group").cast("int").alias("groups"),
        *(F.sum(name).alias(name) for name in ("records_out", "lost_records")),
        # A group that has committed nothing takes nothing that anybody knows of.
        F.when(
            F.count_if(F.col("records_out").isNotNull() & F.col("bytes_out").isNull()) == 0,
            F.sum("bytes_out"),
        ).alias("bytes_out"),
    )
    whole = (
        windows.join(of_topics, on=list(_KEY), how="left")
        .join(of_groups, on=list(_KEY), how="left")
        .fillna(0, subset=["topics", "groups"])
    )
    return periods.named(whole, schemas.CLUSTER_ROLLUP.names)


def _windows(topics: DataFrame, lags: DataFrame, periods: Periods) -> DataFrame:
    """One row per cluster and window in which a topic or a group was sampled."""
    held = (
        topic_windows(periods.inside(topics))
        .groupBy(*_KEY, "window_ms")
        .agg(
            F.max("sampled_ms").alias("topics_ms"),
            F.sum("partitions").cast("int").alias("partitions"),
            sum_of_all("bytes").alias("bytes"),
        )
    )
    behind = F.col("committed") > 0
    unknown = behind & F.col("lag_records").isNull()
    untimed = behind & F.col("lag_seconds").isNull()
    late = (
        group_windows(periods.inside(lags))
        .groupBy(*_KEY, "window_ms")
        .agg(
            F.max("sampled_ms").alias("groups_ms"),
            F.when(F.count_if(unknown) == 0, F.sum("lag_records")).alias("lag_records"),
            F.when(F.count_if(untimed) == 0, F.max("lag_seconds")).alias("lag_seconds"),
            F.max("lag_seconds_at_least").alias("lag_seconds_at_least"),
        )
    )
    return (
        held.join(late, on=[*_KEY, "window_ms"], how="full")
        .withColumn("sampled_ms", F.greatest("topics_ms", "groups_ms"))
        .fillna(0, subset=["partitions"])
    )
