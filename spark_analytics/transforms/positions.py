"""Where each group stands in each partition, per window: the base of both group gold tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S
from spark_analytics.transforms.histories import LOG, with_history
from spark_analytics.transforms.offset_samples import offset_samples
from spark_analytics.transforms.slopes import with_slopes
from spark_analytics.transforms.time_lag import with_first_unread

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

    from spark_analytics.contracts.rules import Rules
    from spark_analytics.transforms.reach import History

_SERIES = ("cluster_id", "group", "topic", "topic_id", "partition")
_OF_TOPIC = ("size_bytes", "oldest_ts_ms", "retention_ms", "retention_bytes")


def positions(
    groups: DataFrame,
    topics: DataFrame,
    history: History,
    rules: Rules,
    *,
    from_ms: Column,
) -> DataFrame:
    """Silver → one row per group, partition and window.

    `topics` are those of the groups' windows, `history` reaches back further
    (`transforms.reach`). Series of a topic that was created again begin again. Adds to
    `schemas.GROUP_SNAPSHOT`: `history`; the topic's `size_bytes`, `oldest_ts_ms`, `retention_ms`,
    `retention_bytes` (null when that window has no topic sample); `first_unread_ms`, `method`,
    `there_by_ms`; `lag_records`, `lost_records`, `time_lag_s`, `time_lag_at_least_s`;
    `produce_rps`, `consume_rps` (robust, over the trend window), `unchanged_s` (the committed
    offset stands still), `uncommitted_s` (records are there and nothing is committed; else null),
    `went_back` (it fell within the trend window), `eta_s`, `behind`.
    Rows of windows before `from_ms`, an expression over `cluster_id`, are there for trends and
    have no rates, the costly part.
    """
    timed = lags(groups, topics, history, rules)
    return _judged(_with_trail(timed, rules, from_ms), rules)


def lags(
    groups: DataFrame,
    topics: DataFrame,
    history: History,
    rules: Rules,
) -> DataFrame:
    """The part of `positions` that looks at one sample only: up to `time_lag_at_least_s`."""
    of_topic = topics.select(*LOG, "window_ms", *_OF_TOPIC)
    joined = with_history(groups.join(of_topic, on=[*LOG, "window_ms"], how="left"), history.cuts)
    samples = offset_samples(history.samples, history.cuts)
    return _with_lags(with_first_unread(joined, samples, rules))


def _with_lags(rows: DataFrame) -> DataFrame:
    committed = F.col("committed_offset") >= 0
    # greatest() skips nulls; an unknown log end must leave an unknown lag.
    known = committed & F.col("log_end_offset").isNotNull()
    readable_from = F.greatest("committed_offset", "log_start_offset")
    age_ms = F.col("ts_ms") - F.col("first_unread_ms")
    at_least_ms = F.col("ts_ms") - F.col("there_by_ms")
    return (
        rows.withColumn(
            "lag_records",
            F.when(
                known,
                F.greatest(F.col("log_end_offset") - F.col("committed_offset"), F.lit(0)),
            ),
        )
        .withColumn("lost_records", F.when(committed, readable_from - F.col("committed_offset")))
        .withColumn("time_lag_s", F.when(committed, age_ms / 1000))
        .withColumn(
            "time_lag_at_least_s",
            F.when(committed, F.coalesce(age_ms / 1000, at_least_ms / 1000)),
        )
    )


def _with_trail(rows: DataFrame, rules: Rules, from_ms: Column) -> DataFrame:
    in_time = Window.partitionBy(*_SERIES).orderBy("window_ms")
    trend = in_time.rangeBetween(-rules.trend_s * 1000, Window.currentRow)
    so_far = in_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    step = F.col("committed_offset") - F.lag("committed_offset").over(in_time)
    followed = (
        rows.withColumn("step", step)
        # A series begins with a "change": nothing is known of the time before.
        .withColumn("changed_ms", F.when(F.coalesce("step", F.lit(1)) != 0, F.col("ts_ms")))
        .withColumn("changed_ms", F.last("changed_ms", ignorenulls=True).over(so_far))
        .withColumn("unchanged_s", (F.col("ts_ms") - F.col("changed_ms")) / 1000)
        .withColumn("uncommitted_s", _uncommitted_s(so_far))
        .withColumn("went_back", F.coalesce(F.min("step").over(trend) < 0, F.lit(False)))
        .drop("step", "changed_ms")
    )
    return with_slopes(
        followed,
        _SERIES,
        "ts_ms",
        {"produce_rps": "log_end_offset", "consume_rps": "committed_offset"},
        trend_s=rules.trend_s,
        from_ms=from_ms,
    )


def _uncommitted_s(so_far: WindowSpec) -> Column:
    """For how long the partition has held records without a commit, as far as is known."""
    holds = F.col("log_end_offset") > F.col("log_start_offset")
    waits = F.coalesce((F.col("committed_offset") < 0) & holds, F.lit(False))
    otherwise_ms = F.last(F.when(~waits, F.col("ts_ms")), ignorenulls=True).over(so_far)
    since_ms = F.coalesce(otherwise_ms, F.first("ts_ms").over(so_far))
    return F.when(waits, (F.col("ts_ms") - since_ms) / 1000)


def _judged(rows: DataFrame, rules: Rules) -> DataFrame:
    closing_rps = F.col("consume_rps") - F.col("produce_rps")
    # A group that is behind by less than what arrives between two samples is not behind.
    floor_records = F.greatest(
        F.lit(float(rules.allowed_lag_records)),
        F.coalesce("produce_rps", F.lit(0.0)) * SAMPLE_INTERVAL_S,
    )
    fresh = F.coalesce(F.col("time_lag_s") <= rules.slo_s, F.lit(False))
    return rows.withColumn(
        "eta_s", F.when(closing_rps > 0, F.col("lag_records") / closing_rps)
    ).withColumn("behind", (F.col("lag_records") > floor_records) & ~fresh)
