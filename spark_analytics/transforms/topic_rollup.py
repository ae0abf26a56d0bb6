"""Gold: each topic by the hour or day: what came in, what it held, how even its partitions are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.transforms.periods import (
    LOG,
    Periods,
    bytes_of,
    held_aggregates,
    per_s,
    record_bytes_sums,
    risen,
    sum_of_all,
    sum_of_known,
    with_step,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEY = ("cluster_id", "topic", "period_ms")


def topic_rollup(topics: DataFrame, each: DataFrame, periods: Periods) -> DataFrame:
    """Topics by partition, and what `topic_partitions` makes of them → `schemas.TOPIC_ROLLUP`.

    `records_in` is by how much log ends rose. It is a lower bound where samples are missing
    (`samples` < `expected`) or a log fell (`resets`). `bytes_in` is an estimate: records by the
    size of those that the partition held. Bytes are of one replica. `gini` is 0 where every
    partition takes the same, and nears 1 where one takes all.
    """
    windows = (
        topic_windows(periods.inside(topics))
        .groupBy(*_KEY)
        .agg(
            F.max("sampled_ms").alias("sampled_ms"),
            F.count(F.lit(1)).cast("int").alias("samples"),
            F.max("partitions").alias("partitions"),
            *(F.max_by(name, "window_ms").alias(name) for name in _OF_LAST),
            *held_aggregates(),
        )
    )
    parts = each.groupBy(*_KEY).agg(
        F.sum("rose").alias("records_in"),
        sum_of_known("rose_bytes", "rose").alias("bytes_in"),
        per_s(F.sum("rose"), F.max("covered_ms")).alias("produce_records_per_s"),
        F.sum("resets").cast("int").alias("resets"),
        F.max("last_write_ms").alias("last_write_ms"),
        F.max(F.struct("rose", -F.col("partition"))).alias("busiest"),
        F.sort_array(F.collect_list("rose")).alias("each"),
    )
    whole = windows.join(parts, on=list(_KEY)).withColumns(
        {
            "busiest_partition": F.when(F.col("records_in") > 0, -F.col("busiest.col2")),
            "busiest_share": F.when(
                F.col("records_in") > 0, F.col("busiest.rose") / F.col("records_in")
            ),
            "gini": _gini(),
        }
    )
    return periods.named(whole, schemas.TOPIC_ROLLUP.names)


_LAST_KNOWN = {
    "log_start_offset": "start_offset",
    "log_end_offset": "end_offset",
    "size_bytes": "bytes_last",
}
_OF_LAST = ("start_offset", "end_offset", "retention_ms", "retention_bytes")


def topic_windows(inside: DataFrame) -> DataFrame:
    """One row per topic and window: `sampled_ms`, `partitions`, and sums over all partitions."""
    return inside.groupBy(*_KEY, "window_ms").agg(
        F.max("ts_ms").alias("sampled_ms"),
        F.count(F.lit(1)).cast("int").alias("partitions"),
        sum_of_all("size_bytes").alias("bytes"),
        sum_of_all("log_start_offset").alias("start_offset"),
        sum_of_all("log_end_offset").alias("end_offset"),
        F.max("retention_ms").alias("retention_ms"),
        F.max("retention_bytes").alias("retention_bytes"),
    )


def topic_partitions(topics: DataFrame, periods: Periods) -> DataFrame:
    """Topics by partition → one row a partition and period; those right before the range begin the
    first step.
    """
    rows = with_step(topics, LOG, "log_end_offset", "step", periods.rules)
    return (
        periods.inside(rows)
        .groupBy(*_KEY, "partition")
        .agg(
            F.max("ts_ms").alias("sampled_ms"),
            F.count_distinct("window_ms").cast("int").alias("samples"),
            *(_last_known(column, name) for column, name in _LAST_KNOWN.items()),
            risen("step").alias("rose"),
            F.sum("step_ms").alias("covered_ms"),
            F.count_if(F.col("step") < 0).alias("resets"),
            F.max(F.when(F.col("step") > 0, F.col("ts_ms"))).alias("last_write_ms"),
            *record_bytes_sums(),
        )
        .withColumn("rose_bytes", bytes_of("rose"))
    )


def _last_known(column: str, name: str) -> Column:
    """Of the last window in which it is known; null where it never is."""
    known = F.when(F.col(column) >= 0, F.struct("window_ms", F.col(column).alias("value")))
    return F.max(known)["value"].alias(name)


def _gini() -> Column:
    """Of the sorted `each`, x1 … xn: Σ (2i - n - 1) xi / (n Σ xi). One partition is not uneven."""
    count = F.size("each")
    weighed = F.transform("each", lambda x, i: x * (2 * (i + 1) - count - 1))
    total = F.aggregate(weighed, F.lit(0).cast("bigint"), lambda one, other: one + other)
    return F.when((count > 1) & (F.col("records_in") > 0), total / (count * F.col("records_in")))
