"""Gold: each group on each topic by the hour or day: how far behind, what it read, what it lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.transforms.periods import (
    LOG,
    Periods,
    bytes_of,
    lag_aggregates,
    per_s,
    record_bytes_sums,
    risen,
    sum_of_known,
    with_step,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEY = ("cluster_id", "group", "topic", "period_ms")


def group_rollup(lags: DataFrame, periods: Periods) -> DataFrame:
    """`judging.LAGS` → `schemas.GROUP_ROLLUP`; those right before the range begin its first step.

    A window's lag is over its committed partitions, as in `GROUP_LAG`, and unknown when one of them
    is. `records_out` is by how much committed offsets rose, `rewinds` how often one fell;
    `bytes_out` an estimate. `lost_records` is the most that were gone at one instant.
    """
    rows = with_step(lags, (*LOG, "group"), "log_end_offset", "came", periods.rules)
    rows = with_step(rows, (*LOG, "group"), "committed_offset", "went", periods.rules)
    inside = periods.inside(rows)
    windows = (
        group_windows(inside)
        .groupBy(*_KEY)
        .agg(
            F.max("sampled_ms").alias("sampled_ms"),
            F.count(F.lit(1)).cast("int").alias("samples"),
            F.max("partitions").alias("partitions"),
            *lag_aggregates(),
            F.max("worst").alias("worst"),
            F.max("lost_records").alias("lost_records"),
        )
    )
    parts = (
        _partitions(inside)
        .groupBy(*_KEY)
        .agg(
            F.sum("in").alias("records_in"),
            F.sum("out").alias("records_out"),
            sum_of_known("out_bytes", "out").alias("bytes_out"),
            per_s(F.sum("in"), F.max("came_ms")).alias("produce_records_per_s"),
            per_s(F.sum("out"), F.max("went_ms")).alias("consume_records_per_s"),
            F.sum("rewinds").cast("int").alias("rewinds"),
        )
    )
    whole = windows.join(parts, on=list(_KEY)).withColumns(
        {
            "worst_partition": -F.col("worst.col2"),
            "worst_partition_lag_records": F.col("worst.lag_records"),
        }
    )
    return periods.named(whole, schemas.GROUP_ROLLUP.names)


def group_windows(inside: DataFrame) -> DataFrame:
    """One row per group, topic and window; `worst` is the partition that is furthest behind."""
    committed = F.col("committed_offset") >= 0
    lag, late = F.col("lag_records"), F.col("time_lag_s")
    summed = inside.groupBy(*_KEY, "window_ms").agg(
        F.max("ts_ms").alias("sampled_ms"),
        F.count(F.lit(1)).cast("int").alias("partitions"),
        F.count_if(committed).alias("committed"),
        F.count_if(committed & lag.isNull()).alias("unknown"),
        F.count_if(committed & (lag > 0) & late.isNull()).alias("untimed"),
        F.sum("lag_records").alias("lag"),
        F.max("time_lag_s").alias("late"),
        F.max("time_lag_at_least_s").alias("lag_seconds_at_least"),
        F.max(F.when(lag > 0, F.struct("lag_records", -F.col("partition")))).alias("worst"),
        F.sum("lost_records").alias("lost_records"),
    )
    known = (F.col("committed") > 0) & (F.col("unknown") == 0)
    return summed.withColumn("lag_records", F.when(known, F.col("lag"))).withColumn(
        "lag_seconds", F.when(known & (F.col("untimed") == 0), F.col("late"))
    )


def _partitions(inside: DataFrame) -> DataFrame:
    return (
        inside.groupBy(*_KEY, "partition")
        .agg(
            risen("came").alias("in"),
            F.sum("came_ms").alias("came_ms"),
            risen("went").alias("out"),
            F.sum("went_ms").alias("went_ms"),
            F.count_if(F.col("went") < 0).alias("rewinds"),
            *record_bytes_sums(),
        )
        .withColumn("out_bytes", bytes_of("out"))
    )
