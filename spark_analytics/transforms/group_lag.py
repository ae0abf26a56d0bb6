"""Gold: how far each group is behind on each topic, in records and in seconds, and how it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.conditions import status_conditions
from spark_analytics.contracts.statuses import Method, Reason, Trend
from spark_analytics.contracts.telemetry import NO_OFFSET
from spark_analytics.transforms.conditions import ColumnFacts, first_true
from spark_analytics.transforms.exact import exact_sum
from spark_analytics.transforms.slopes import with_slopes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

    from spark_analytics.contracts.rules import Rules

_KEY = ("cluster_id", "group", "topic", "topic_id")


def group_lag(positions: DataFrame, rules: Rules, *, from_ms: Column) -> DataFrame:
    """`transforms.positions` → `schemas.GROUP_LAG`, one row per group, topic and window from
    `from_ms` on; `positions` reaches back as far as trends look.

    A sum or maximum over partitions of which one is unknown is null: partial is not a number.
    `lag_records` is over the committed partitions; `uncommitted_records` is what the others hold,
    which is the most that can be unread there.
    """
    rolled = _rolled(positions)
    trended = _with_trend(rolled, rules, from_ms).filter(F.col("window_ms") >= from_ms)
    status = first_true(status_conditions(ColumnFacts(), rules))
    judged = trended.withColumn("status", status).withColumn("reasons", _reasons())
    return judged.select(*(field.name for field in schemas.GROUP_LAG.fields))


def _rolled(positions: DataFrame) -> DataFrame:
    committed = F.col("committed_offset") > NO_OFFSET
    held = F.col("log_end_offset") - F.col("log_start_offset")
    unread = F.col("lag_records") > 0
    untimed = committed & unread & F.col("time_lag_s").isNull()
    # Of partitions that are equally late the method's name decides, not which row came first.
    timed = F.when(unread & F.col("time_lag_s").isNotNull(), F.struct("time_lag_s", "method"))
    slowest = F.max(timed)["method"]
    return (
        positions.groupBy(*_KEY, "window_ms")
        .agg(
            F.max("ts_ms").alias("sampled_ms"),
            F.first("members").alias("members"),
            F.first("state").alias("state"),
            F.count(F.lit(1)).cast("int").alias("partitions"),
            F.count_if(committed).alias("committed_count"),
            F.count_if(committed & F.col("lag_records").isNull()).alias("unknown_count"),
            F.count_if(~committed).cast("int").alias("uncommitted_partitions"),
            F.count_if(~committed & held.isNull()).alias("held_unknown_count"),
            F.sum(F.when(~committed, held)).alias("held_known"),
            F.max("uncommitted_s").alias("uncommitted_s"),
            F.count_if(untimed).alias("untimed_count"),
            F.count_if(F.col("behind")).alias("behind_count"),
            F.count_if(F.col("behind") & F.col("eta_s").isNull()).alias("no_eta_count"),
            F.sum("lag_records").alias("lag_known"),
            F.sum("lost_records").alias("lost_records"),
            F.max("time_lag_s").alias("time_lag_max_s"),
            F.max("time_lag_at_least_s").alias("lag_seconds_at_least"),
            F.max(F.when(F.col("behind"), F.col("eta_s"))).alias("eta_max_s"),
            slowest.alias("slowest_method"),
            F.max(F.when(F.col("behind"), F.col("unchanged_s"))).alias("stuck_s"),
            F.max("went_back").alias("went_back"),
            exact_sum("produce_rps").alias("produce_records_per_s"),
            exact_sum("consume_rps").alias("consume_records_per_s"),
        )
        .withColumn("ts_ms", F.col("window_ms"))
        .withColumn("lag_records", F.when(_all_known(), F.col("lag_known")))
        .withColumn(
            "uncommitted_records",
            F.when(F.col("held_unknown_count") == 0, F.coalesce("held_known", F.lit(0))),
        )
        .withColumn(
            "lag_seconds",
            F.when(_all_known() & (F.col("untimed_count") == 0), F.col("time_lag_max_s")),
        )
        .withColumn("method", _method())
        .withColumn("eta_seconds", _eta())
    )


def _all_known() -> Column:
    return (F.col("committed_count") > 0) & (F.col("unknown_count") == 0)


def _method() -> Column:
    return (
        F.when(F.col("committed_count") == 0, Method.NO_COMMIT.value)
        .when(F.col("unknown_count") > 0, F.lit(None))
        .when(F.col("untimed_count") > 0, Method.OUT_OF_HISTORY.value)
        .when(F.col("lag_known") == 0, Method.CAUGHT_UP.value)
        .otherwise(F.col("slowest_method"))
    )


def _eta() -> Column:
    """The slowest partition decides; one that does not catch up leaves no forecast."""
    return F.when(_all_known() & (F.col("behind_count") == 0), F.lit(0.0)).when(
        _all_known() & (F.col("no_eta_count") == 0), F.col("eta_max_s")
    )


def _with_trend(rolled: DataFrame, rules: Rules, from_ms: Column) -> DataFrame:
    trend = (
        Window.partitionBy(*_KEY)
        .orderBy("window_ms")
        .rangeBetween(-rules.trend_s * 1000, Window.currentRow)
    )
    steady_rps = F.greatest(
        F.lit(rules.steady_records_per_s),
        F.coalesce("produce_records_per_s", F.lit(0.0)) * 0.02,
    )
    growth = F.col("trend_records_per_s")
    return (
        with_slopes(
            rolled.withColumn("enough", _enough(trend, rules)),
            _KEY,
            "sampled_ms",
            {"slope": "lag_records"},
            trend_s=rules.trend_s,
            from_ms=from_ms,
        )
        .withColumn("trend_records_per_s", F.when(F.col("enough"), F.col("slope")))
        .withColumn(
            "trend",
            F.when(growth.isNull(), Trend.UNKNOWN.value)
            .when(growth > steady_rps, Trend.GROWING.value)
            .when(growth < -steady_rps, Trend.SHRINKING.value)
            .otherwise(Trend.STEADY.value),
        )
    )


def _enough(trend: WindowSpec, rules: Rules) -> Column:
    known_ms = F.when(F.col("lag_records").isNotNull(), F.col("sampled_ms"))
    first, last = (found(known_ms, ignorenulls=True).over(trend) for found in (F.first, F.last))
    return F.coalesce(
        (F.count(known_ms).over(trend) >= rules.samples_min)
        & (last - first >= rules.span_min_s * 1000),
        F.lit(False),
    )


def _reasons() -> Column:
    partial = (F.col("committed_count") > 0) & (F.col("uncommitted_partitions") > 0)
    return F.concat_ws(
        ",",
        F.when(partial, Reason.PARTIAL_COMMIT.value),
        F.when(F.col("went_back"), Reason.REWOUND.value),
    )
