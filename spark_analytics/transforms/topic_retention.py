"""Gold: what each topic holds, in bytes and in age."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def topic_retention(topics: DataFrame) -> DataFrame:
    """Topic snapshots → `schemas.TOPIC_RETENTION`.

    `bytes` and `records` count one replica (the leader's) of every partition and are null when one
    of them is unknown. `age_seconds` is that of the oldest record held, null when there is none.
    """
    return (
        topics.withColumn("records", F.col("log_end_offset") - F.col("log_start_offset"))
        .groupBy("cluster_id", "topic", F.col("window_ms").alias("ts_ms"))
        .agg(
            F.max("ts_ms").alias("sampled_ms"),
            F.count(F.lit(1)).cast("int").alias("partitions"),
            _sum_of_all("size_bytes").alias("bytes"),
            _sum_of_all("records").alias("records"),
            F.min("oldest_ts_ms").alias("oldest_ts_ms"),
            F.first("retention_ms").alias("retention_ms"),
            F.first("retention_bytes").alias("retention_bytes"),
        )
        # Producers stamp records; one ahead of our clock is not of negative age.
        .withColumn(
            "age_seconds",
            F.when(
                F.col("oldest_ts_ms").isNotNull(),
                F.greatest(F.col("sampled_ms") - F.col("oldest_ts_ms"), F.lit(0)) / 1000,
            ),
        )
        .select(*(field.name for field in schemas.TOPIC_RETENTION.fields))
    )


def _sum_of_all(name: str) -> Column:
    return F.when(F.count(name) == F.count(F.lit(1)), F.sum(name))
