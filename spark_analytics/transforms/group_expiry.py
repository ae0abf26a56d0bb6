"""Gold: when retention takes records that a group has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.conditions import risk_conditions
from spark_analytics.contracts.statuses import Risk, rank
from spark_analytics.transforms.conditions import ColumnFacts, first_true

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.rules import Rules

# A lag that grows by less than this share of real time is steady; `trend` draws the line there too.
_STEADY = 0.02


def group_expiry(positions: DataFrame, rules: Rules) -> DataFrame:
    """`transforms.positions` → `schemas.GROUP_EXPIRY`, one row per group, topic and window.

    `oldest_unread_expires_in_s` is the soonest of the partitions: seconds until the oldest unread
    record leaves by `retention.ms`, or by `retention.bytes` at the present rate of writing. It is
    a lower bound, for a segment goes only when its newest record is out; null when nothing is
    unread, nothing limits, or the record's age is not known. A group that reads has read that
    record long before: `first_loss_in_s` is when, at the present rates, the group's lag reaches
    what the topic keeps; null when it keeps up, catches up, or nothing is known.
    """
    ageless = F.coalesce(_limited_by_time(), F.lit(False)) & F.col("by_time_s").isNull()
    judged = (
        positions.withColumn("by_time_s", _by_time_s())
        .withColumn("by_size_s", _by_size_s())
        .withColumn("expires_s", F.when(_unread() & ~ageless, F.least("by_time_s", "by_size_s")))
        .withColumn("keeps_up", _keeps_up())
        .withColumn("first_loss_s", _first_loss_s())
        .withColumn("unread", _unread())
        .withColumn("unlimited", _unlimited())
        .withColumn("soon_s", _soon_s(rules))
        .withColumn("risk", first_true(risk_conditions(ColumnFacts())))
        .withColumn("rank", _rank())
    )
    soonest = F.when(F.col("expires_s").isNotNull(), F.struct("expires_s", "method"))
    return (
        judged.groupBy("cluster_id", "topic", "group", F.col("window_ms").alias("ts_ms"))
        .agg(
            F.min("expires_s").alias("oldest_unread_expires_in_s"),
            F.min("first_loss_s").alias("first_loss_in_s"),
            # Of those that expire together the method's name decides, not which row came first.
            F.coalesce(F.min(soonest)["method"], F.min("method")).alias("method"),
            F.coalesce(F.sum("lost_records"), F.lit(0)).alias("lost_records"),
            F.max_by("risk", "rank").alias("status"),
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
    unread = F.col("log_end_offset") - F.greatest("committed_offset", "log_start_offset")
    free_bytes = F.greatest(F.col("retention_bytes") - unread * _record_bytes(), F.lit(0.0))
    return F.when(
        _limited_by_size() & (_ingest_bytes_per_s() > 0), free_bytes / _ingest_bytes_per_s()
    )


def _record_bytes() -> Column:
    held = F.col("log_end_offset") - F.col("log_start_offset")
    return F.when(held > 0, F.col("size_bytes") / held)


def _ingest_bytes_per_s() -> Column:
    return F.col("produce_rps") * _record_bytes()


def _kept_s() -> Column:
    """How long the topic keeps a record at the present rate of writing."""
    by_size = _limited_by_size() & (_ingest_bytes_per_s() > 0)
    return F.least(
        F.when(_limited_by_time(), F.col("retention_ms") / 1000),
        F.when(by_size, F.col("retention_bytes") / _ingest_bytes_per_s()),
    )


def _keeps_up() -> Column:
    return F.coalesce(~F.col("behind") & (F.col("time_lag_s") < F.col("expires_s")), F.lit(False))


def _first_loss_s() -> Column:
    """Behind by B seconds and by g seconds more each second, what is kept for R is reached after
    (R - B) / g; the first is `expires_s`. Bytes unread grow to their limit alike.
    """
    produce, consume = F.col("produce_rps"), F.col("consume_rps")
    growth = (
        F.when(produce > 0, F.least(1 - consume / produce, F.lit(1.0)))
        # Nothing new comes: who reads gets there, who does not ages with the records.
        .when(consume > 0, 0.0)
        .when(produce.isNotNull() & consume.isNotNull(), 1.0)
    )
    return F.when(~F.col("keeps_up") & (growth > _STEADY), F.col("expires_s") / growth)


def _limited_by_time() -> Column:
    return F.col("retention_ms") >= 0


def _limited_by_size() -> Column:
    return F.col("retention_bytes") >= 0


def _unlimited() -> Column:
    return ~_limited_by_time() & (
        ~_limited_by_size() | F.coalesce(F.col("produce_rps") <= 0, F.lit(False))
    )


def _soon_s(rules: Rules) -> Column:
    return F.least(F.lit(rules.at_risk_s), rules.at_risk_share * _kept_s())


def _rank() -> Column:
    """Which of a group's partitions speaks for the group: the highest."""
    return F.coalesce(*(F.when(F.col("risk") == risk.value, rank(risk)) for risk in Risk))
