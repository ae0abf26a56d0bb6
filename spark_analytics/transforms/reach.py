"""What is read of the logs' histories: one pass over a day of samples says which of them matter.

Nearly all groups are minutes behind, samples reach back a day. Of each log those that an offset
which a group committed lies between are looked at, unless a log was cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.telemetry import NO_OFFSET
from spark_analytics.transforms.compiled import compiled
from spark_analytics.transforms.histories import LOG, cuts_of, epoch_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class History:
    """`cuts` as `transforms.histories` has them, None when no log was cut; `samples` are the topic
    snapshots between which committed offsets may lie.
    """

    cuts: DataFrame | None
    samples: DataFrame

    def unpersist(self) -> None:
        for frame in (self.cuts, self.samples):
            if frame is not None:
                frame.unpersist()


def history(topics: DataFrame, groups: DataFrame) -> History:
    """Of these topic snapshots what these groups need, found now and kept in memory."""
    with compiled(topics.sparkSession):
        summary = _summary(topics, groups).persist()
        cuts = cuts_of(summary).persist()
        if not cuts.isEmpty():
            summary.unpersist()
            return History(cuts, topics)
        samples = _between(topics, summary).persist()
        samples.count()
    cuts.unpersist()
    summary.unpersist()
    return History(None, samples)


def _summary(topics: DataFrame, groups: DataFrame) -> DataFrame:
    """One row per log and leader epoch: `epoch_columns`, and where the committed offsets are.

    `low` and `high` are the lowest and the highest of them, null without any; `low_ms` and
    `high_ms` the last samples at or below these, `above_ms` the first sample above `high` and
    `above_end` the lowest log end above it.
    """
    committed = groups.filter(F.col("committed_offset") > NO_OFFSET)
    bounds = committed.groupBy(*LOG).agg(
        F.min("committed_offset").alias("low"), F.max("committed_offset").alias("high")
    )
    known = topics.filter(F.col("log_end_offset").isNotNull())
    end, ts_ms = F.col("log_end_offset"), F.col("ts_ms")
    is_above = end > F.col("high")
    return (
        known.join(F.broadcast(bounds), on=list(LOG), how="left")
        .groupBy(*LOG, "leader_epoch")
        .agg(
            *epoch_columns(),
            F.max("low").alias("low"),
            F.max(F.when(end <= F.col("low"), ts_ms)).alias("low_ms"),
            F.max(F.when(end <= F.col("high"), ts_ms)).alias("high_ms"),
            F.min(F.when(is_above, ts_ms)).alias("above_ms"),
            F.min(F.when(is_above, end)).alias("above_end"),
        )
    )


def _between(topics: DataFrame, summary: DataFrame) -> DataFrame:
    """The snapshots from the last one at or below the lowest committed offset to the first above
    the highest: the others bracket nothing, where no log was cut. Partitions without a commit need
    none.
    """
    # A log that fell across the highest offset may have more than one first sample above it.
    fell = F.col("above_ms") < F.col("high_ms")
    reach = (
        summary.filter(F.col("low").isNotNull())
        .groupBy(*LOG)
        .agg(*(F.max(name).alias(name) for name in ("low_ms", "high_ms")), *_firsts())
        .withColumn("upto", F.when(~F.coalesce(fell, F.lit(False)), F.col("above_end")))
        .select(*LOG, "low_ms", "upto")
    )
    begins = F.col("low_ms").isNull() | (F.col("ts_ms") >= F.col("low_ms"))
    ends = F.col("upto").isNull() | (F.col("log_end_offset") <= F.col("upto"))
    known = topics.filter(F.col("log_end_offset").isNotNull())
    return (
        known.join(F.broadcast(reach), on=list(LOG))
        .filter(begins & ends)
        .select(*LOG, "ts_ms", "log_end_offset")
    )


def _firsts() -> list[Column]:
    return [F.min(name).alias(name) for name in ("above_ms", "above_end")]
