"""Gold: when retention takes records that a group has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts import NO_OFFSET, Risk

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts import Rules

# Which of a group's partitions speaks for the group: the highest.
_SEVERITY = (Risk.SAFE, Risk.UNKNOWN, Risk.WATCH, Risk.AT_RISK, Risk.LOSING)


def group_expiry(positions: DataFrame, rules: Rules) -> DataFrame:
    """`transforms.positions` → `schemas.GROUP_EXPIRY`, one row per group, topic and window.

    `oldest_unread_expires_in_s` is the soonest of the partitions: seconds until the oldest unread
    record leaves by `retention.ms`, or by `retention.bytes` at the present rate of writing. It is
    a lower bound, for a segment goes only when its newest record is out; null when nothing is
    unread, nothing limits, or the record's age is not known.
    """
    ageless = F.coalesce(_limited_by_time(), F.lit(False)) & F.col("by_time_s").isNull()
    judged = (
        positions.withColumn("by_time_s", _by_time_s())
        .withColumn("by_size_s", _by_size_s())
        .withColumn("expires_s", F.when(_unread() & ~ageless, F.least("by_time_s", "by_size_s")))
        .withColumn("risk", _risk(rules))
        .withColumn("severity", _severity())
    )
    return (
        judged.groupBy("cluster_id", "topic", "group", F.col("window_ms").alias("ts_ms"))
        .agg(
            F.min("expires_s").alias("oldest_unread_expires_in_s"),
            F.coalesce(F.min_by("method", "expires_s"), F.first("method", ignorenulls=True)).alias(
                "method"
            ),
            F.coalesce(F.sum("lost_records"), F.lit(0)).alias("lost_records"),
            F.max_by("risk", "severity").alias("status"),
        )
        .select(*(field.name for field in schemas.GROUP_EXPIRY.fields))
    )


def _unread() -> Column:
    return F.col("log_end_offset") > F.greatest("committed_offset", "log_start_offset")


def _by_time_s() -> Column:
    # Out of history the log's first record stands in: nothing unread can leave before it.
    born_ms = F.coalesce(F.col("first_unread_ms"), F.col("oldest_ts_ms").cast("double"))
    left_s = (born_ms + F.col("retention_ms") - F.col("ts_ms")) / 1000
    # greatest() skips nulls; an unknown age must not read as "now".
    return F.when(_limited_by_time() & left_s.isNotNull(), F.greatest(left_s, F.lit(0.0)))


def _by_size_s() -> Column:
    held = F.col("log_end_offset") - F.col("log_start_offset")
    unread = F.col("log_end_offset") - F.greatest("committed_offset", "log_start_offset")
    record_bytes = F.when(held > 0, F.col("size_bytes") / held)
    room_bytes = F.greatest(F.col("retention_bytes") - unread * record_bytes, F.lit(0.0))
    ingest_bytes_per_s = F.col("produce_rps") * record_bytes
    return F.when(_limited_by_size() & (ingest_bytes_per_s > 0), room_bytes / ingest_bytes_per_s)


def _limited_by_time() -> Column:
    return F.col("retention_ms") >= 0


def _limited_by_size() -> Column:
    return F.col("retention_bytes") >= 0


def _risk(rules: Rules) -> Column:
    expires = F.col("expires_s")
    unknown = (F.col("committed_offset") == NO_OFFSET) | F.col("log_end_offset").isNull()
    unlimited = ~_limited_by_time() & (
        ~_limited_by_size() | F.coalesce(F.col("produce_rps") <= 0, F.lit(False))
    )
    keeps_up = ~F.col("behind") & (F.col("time_lag_s") < expires)
    return (
        F.when(unknown, Risk.UNKNOWN.value)
        .when(F.col("lost_records") > 0, Risk.LOSING.value)
        .when(~_unread() | unlimited, Risk.SAFE.value)
        .when(expires.isNull(), Risk.UNKNOWN.value)
        .when(keeps_up | (F.col("eta_s") < expires / 2), Risk.SAFE.value)
        .when(F.col("eta_s") > expires, Risk.AT_RISK.value)
        .when(F.col("eta_s").isNull() & (expires < rules.at_risk_s), Risk.AT_RISK.value)
        .otherwise(Risk.WATCH.value)
    )


def _severity() -> Column:
    rank = F.when(F.col("risk") == _SEVERITY[0].value, 0)
    for number, risk in enumerate(_SEVERITY[1:], start=1):
        rank = rank.when(F.col("risk") == risk.value, number)
    return rank
