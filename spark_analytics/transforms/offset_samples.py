"""Offset samples: when the log of a partition had reached which offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SERIES = ("cluster_id", "topic", "partition")


def offset_samples(topics: DataFrame) -> DataFrame:
    """Topic snapshots → `schemas.OFFSET_SAMPLE`, rising in time and in offset.

    A sample above a later log end is dropped: those records were truncated away, or the topic was
    recreated. Of a flat run only the first and the last sample are kept.
    """
    from_now_on = (
        Window.partitionBy(*_SERIES)
        .orderBy(F.col("ts_ms").desc())
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    in_time = Window.partitionBy(*_SERIES).orderBy("ts_ms")
    still_there = F.col("log_end_offset") <= F.col("log_end_from_now_on_min")
    in_flat_run = (F.col("log_end_offset") == F.col("before")) & (
        F.col("log_end_offset") == F.col("after")
    )
    return (
        topics.select(*_SERIES, "ts_ms", "log_end_offset")
        .filter(F.col("log_end_offset").isNotNull())
        .withColumn("log_end_from_now_on_min", F.min("log_end_offset").over(from_now_on))
        .filter(still_there)
        .withColumn("before", F.lag("log_end_offset").over(in_time))
        .withColumn("after", F.lead("log_end_offset").over(in_time))
        .filter(~F.coalesce(in_flat_run, F.lit(False)))
        .select(*(field.name for field in schemas.OFFSET_SAMPLE.fields))
    )
