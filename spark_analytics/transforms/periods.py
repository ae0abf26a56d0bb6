"""What all rollups share: the periods, the steps of an offset, percentiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.rules import Rules

LOG = ("cluster_id", "topic", "topic_id", "partition")
"""The columns that name one log; `topic_id` is empty where brokers have none."""
PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """The whole periods of [from_ms, to_ms), each of `period_s`, counted from the epoch (UTC)."""

    period_s: int
    from_ms: int
    to_ms: int
    rules: Rules

    def inside(self, rows: DataFrame) -> DataFrame:
        """The rows of windows in the periods + `period_ms`, the period's start."""
        window = F.col("window_ms")
        within = (window >= self.from_ms) & (window < self.to_ms)
        return rows.filter(within).withColumn("period_ms", window - window % (self.period_s * 1000))

    def named(self, rows: DataFrame, columns: Sequence[str]) -> DataFrame:
        """Rows with a `period_ms` as rows of a rollup."""
        return (
            rows.withColumn("ts_ms", F.col("period_ms"))
            .withColumn("period_s", F.lit(self.period_s))
            .withColumn("expected", F.lit(self.period_s // self.rules.window_s))
            .select(*columns)
        )


def with_step(
    rows: DataFrame, series: Sequence[str], column: str, name: str, rules: Rules
) -> DataFrame:
    """Adds `name`: by how much an offset has moved since the sample before in which it is known,
    and `name`_ms: in how long.

    Null of the first of a series, where the offset is unknown or not committed, and across a gap of
    more than `offset_samples_gap_max_s`: nobody knows in which period those records came.
    """
    before = Window.partitionBy(*series).orderBy("window_ms").rowsBetween(-(2**31), -1)
    known = F.col(column) >= 0
    last = F.last(F.when(known, F.struct(F.col(column).alias("at"), "ts_ms")), ignorenulls=True)
    took_ms = F.col("ts_ms") - F.col("_last.ts_ms")
    near = known & (took_ms <= rules.offset_samples_gap_max_s * 1000)
    return (
        rows.withColumn("_last", last.over(before))
        .withColumn(name, F.when(near, F.col(column) - F.col("_last.at")))
        .withColumn(f"{name}_ms", F.when(near, took_ms))
        .drop("_last")
    )


def risen(step: str) -> Column:
    """The steps forwards, added; null where none is known."""
    return F.sum(F.when(F.col(step) >= 0, F.col(step)).when(F.col(step) < 0, 0))


def percentiles(column: str, prefix: str) -> list[Column]:
    """Aggregates `prefix`_p50, _p95, _p99: exact, linear between two values, nulls left out."""
    return [
        F.percentile(column, number / 100).alias(f"{prefix}_p{number}") for number in PERCENTILES
    ]


def lag_aggregates() -> list[Column]:
    """Of windows with `lag_records`, `lag_seconds`, `lag_seconds_at_least`: the contract's lags."""
    return [
        F.count("lag_records").cast("int").alias("lag_samples"),
        *percentiles("lag_records", "lag_records"),
        F.max("lag_records").alias("lag_records_max"),
        F.max_by("lag_records", "window_ms").alias("lag_records_last"),
        F.count("lag_seconds").cast("int").alias("time_lag_samples"),
        *percentiles("lag_seconds", "lag_seconds"),
        F.max("lag_seconds").alias("lag_seconds_max"),
        F.max("lag_seconds_at_least").alias("lag_seconds_at_least_max"),
    ]


def held_aggregates() -> list[Column]:
    """Of windows with `bytes`: the contract's bytes held."""
    return [
        F.count("bytes").cast("int").alias("bytes_samples"),
        (F.sum("bytes") / F.count("bytes")).alias("bytes_avg"),
        F.max("bytes").alias("bytes_max"),
        F.max_by("bytes", "window_ms").alias("bytes_last"),
    ]


def sum_of_all(name: str) -> Column:
    """The sum, null when one is unknown: partial is not a number."""
    return F.when(F.count(name) == F.count(F.lit(1)), F.sum(name))


def record_bytes_sums() -> list[Column]:
    """`size_sum`, `held_sum`: over a partition's samples, whose ratio is the size of a record."""
    held = F.col("log_end_offset") - F.col("log_start_offset")
    counts = (held > 0) & F.col("size_bytes").isNotNull()
    return [
        F.sum(F.when(counts, F.col("size_bytes"))).alias("size_sum"),
        F.sum(F.when(counts, held)).alias("held_sum"),
    ]


def bytes_of(records: str) -> Column:
    """So many records of a partition in bytes, by the size of those that it held meanwhile."""
    size = F.col("size_sum") / F.col("held_sum")
    return F.when(F.col(records) == 0, F.lit(0).cast("bigint")).otherwise(
        F.floor(F.col(records) * size + 0.5).cast("bigint")
    )


def sum_of_known(part: str, whole: str) -> Column:
    """The sum of `part`, null when one is unknown whose `whole` is known."""
    missing = F.count_if(F.col(whole).isNotNull() & F.col(part).isNull())
    return F.when(missing == 0, F.sum(part))


def per_s(count: Column, over_ms: Column) -> Column:
    return F.when(over_ms > 0, count / (over_ms / 1000))
