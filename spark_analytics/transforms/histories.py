"""Histories of a log: what was true of its offsets before it was cut is not what holds after.

A topic that is created again has another topic id, and shares no history with the one before.
Within one topic a log is cut when a leader comes that has less (an unclean election): its leader
epoch is a new one and its log end below what was there. Offsets below the cut keep their times;
those above it were other records, whose times stay true of the instants before the cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LOG = ("cluster_id", "topic", "topic_id", "partition")
"""The columns that name one log; `topic_id` is empty where brokers have none."""
CUTS_MAX = 16
"""Cuts kept of one log, the latest: what is known of it costs no more than that many times."""


def cuts(topics: DataFrame) -> DataFrame:
    """Topic snapshots → of each log that was cut its `cuts`: array<struct<ts_ms, end_offset>>, in
    time, of the instant at which the cut was first seen and the log end then.
    """
    known = topics.filter(F.col("log_end_offset").isNotNull())
    return cuts_of(known.groupBy(*LOG, "leader_epoch").agg(*epoch_columns()))


def epoch_columns() -> list[Column]:
    """Of the samples of one leader epoch of a log: when it was first seen, the log end then, and
    the greatest one.
    """
    return [
        F.min("ts_ms").alias("ts_ms"),
        F.min_by("log_end_offset", "ts_ms").alias("end_offset"),
        F.max("log_end_offset").alias("end_offset_max"),
    ]


def cuts_of(epochs: DataFrame) -> DataFrame:
    """`cuts`, of a row with `epoch_columns` for each leader epoch of each log."""
    before = Window.partitionBy(*LOG).orderBy("ts_ms", "leader_epoch").rowsBetween(-(2**31), -1)
    reached = F.max("end_offset_max").over(before)
    found = F.sort_array(F.collect_list(F.struct("ts_ms", "end_offset")))
    return (
        epochs.withColumn("reached", reached)
        .filter(F.col("end_offset") < F.col("reached"))
        .groupBy(*LOG)
        .agg(F.slice(found, -F.least(F.size(found), F.lit(CUTS_MAX)), CUTS_MAX).alias("cuts"))
    )


def with_history(rows: DataFrame, cuts: DataFrame | None) -> DataFrame:
    """Rows of logs + `history`: how many cuts were seen by `ts_ms`."""
    if cuts is None:
        return rows.withColumn("history", F.lit(0))
    passed = F.filter("cuts", lambda cut: cut["ts_ms"] <= F.col("ts_ms"))
    return (
        rows.join(F.broadcast(cuts), on=list(LOG), how="left")
        .withColumn("history", _size(passed))
        .drop("cuts")
    )


def in_later_histories(samples: DataFrame, cuts: DataFrame | None) -> DataFrame:
    """Samples of log ends with a `history` → one row for each history in which they are true: their
    own, and those that follow until a cut below them.
    """
    if cuts is None:
        return samples
    still = F.array_position(
        F.transform(
            F.filter("cuts", lambda cut: cut["ts_ms"] > F.col("ts_ms")),
            lambda cut: cut["end_offset"] < F.col("log_end_offset"),
        ),
        F.lit(True),
    )
    later = _size(F.filter("cuts", lambda cut: cut["ts_ms"] > F.col("ts_ms")))
    # A position counts from 1, and 0 means that no later cut is below.
    lasts = F.when(still > 0, still - 1).otherwise(later).cast("int")
    last = F.col("history") + F.coalesce(lasts, F.lit(0))
    return (
        samples.join(F.broadcast(cuts), on=list(LOG), how="left")
        .withColumn("history", F.explode(F.sequence("history", last)))
        .drop("cuts")
    )


def _size(array: Column) -> Column:
    """Elements of an array, 0 of null, whatever the session says of size(null)."""
    return F.coalesce(F.when(array.isNotNull(), F.size(array)), F.lit(0))
