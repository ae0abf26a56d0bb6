"""Offset samples: when the log of a partition had reached which offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.transforms.histories import LOG, in_later_histories, with_history

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HISTORY = (*LOG, "history")


def offset_samples(topics: DataFrame, cuts: DataFrame | None) -> DataFrame:
    """Topic snapshots → `schemas.OFFSET_SAMPLE`: of each history of a log the samples that are true
    in it, rising in time and in offset.

    A sample above a later log end of its own history is dropped: the log fell without a new leader
    epoch, so nobody knows what its records were. Of a flat run only the first and the last sample
    are kept.
    """
    from_now_on = (
        Window.partitionBy(*_HISTORY)
        .orderBy(F.col("ts_ms").desc())
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    in_time = Window.partitionBy(*_HISTORY).orderBy("ts_ms")
    still_there = F.col("log_end_offset") <= F.col("log_end_from_now_on_min")
    in_flat_run = (F.col("log_end_offset") == F.col("before")) & (
        F.col("log_end_offset") == F.col("after")
    )
    known = topics.filter(F.col("log_end_offset").isNotNull())
    own = (
        with_history(known.select(*LOG, "ts_ms", "log_end_offset"), cuts)
        .withColumn("log_end_from_now_on_min", F.min("log_end_offset").over(from_now_on))
        .filter(still_there)
        .withColumn("before", F.lag("log_end_offset").over(in_time))
        .withColumn("after", F.lead("log_end_offset").over(in_time))
        .filter(~F.coalesce(in_flat_run, F.lit(False)))
    )
    everywhere = in_later_histories(own, cuts)
    return everywhere.select(*(field.name for field in schemas.OFFSET_SAMPLE.fields))
