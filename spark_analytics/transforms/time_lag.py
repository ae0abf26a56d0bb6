"""How old is the oldest record that a group has not read? By bracketing its offset with samples.

The first unread record, at the committed offset, was appended after the last sample at or below
that offset and not after the first sample above it; its time is interpolated between the two. Below
the oldest sample nothing is extrapolated, and across a gap, left by a collector that was down,
nothing is interpolated: the time is null and the method says `out_of_history`. A group that stands
at the first record of the log needs no estimate, that record's time is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.statuses import Method
from spark_analytics.transforms.histories import LOG

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.rules import Rules

_SERIES = (*LOG, "history")


def with_first_unread(positions: DataFrame, offset_samples: DataFrame, rules: Rules) -> DataFrame:
    """Positions of groups + `first_unread_ms`, `method`, `there_by_ms`.

    Expects cluster_id, topic, topic_id, partition, history, ts_ms, committed_offset,
    log_start_offset, log_end_offset, oldest_ts_ms; other columns pass through. `first_unread_ms` is
    never after `ts_ms`, and null exactly when `method` is out_of_history, no_commit or null (log
    end unknown).
    `there_by_ms` is the first known instant at which the record was there, `ts_ms` at the latest.
    """
    bracketed = _with_brackets(positions, offset_samples).withColumn("closing", _closing())
    caught_up = F.col("committed_offset") >= F.col("log_end_offset")
    at_first_record = (F.col("committed_offset") <= F.col("log_start_offset")) & F.col(
        "oldest_ts_ms"
    ).isNotNull()
    is_gap = F.col("closing.ts_ms") - F.col("left.ts_ms") > rules.offset_samples_gap_max_s * 1000
    inside_history = (F.col("left.ts_ms") <= F.col("ts_ms")) & ~is_gap
    method = (
        F.when(F.col("committed_offset") < 0, Method.NO_COMMIT.value)
        .when(F.col("log_end_offset").isNull(), F.lit(None))
        .when(caught_up, Method.CAUGHT_UP.value)
        .when(at_first_record, Method.EXACT.value)
        .when(inside_history, Method.INTERPOLATED.value)
        .otherwise(Method.OUT_OF_HISTORY.value)
    )
    return (
        bracketed.withColumn("method", method)
        .withColumn(
            "first_unread_ms",
            F.when(F.col("method") == Method.CAUGHT_UP.value, F.col("ts_ms").cast("double"))
            .when(
                F.col("method") == Method.EXACT.value,
                F.least("oldest_ts_ms", "ts_ms").cast("double"),
            )
            .when(F.col("method") == Method.INTERPOLATED.value, _interpolated()),
        )
        .withColumn("there_by_ms", F.col("closing.ts_ms"))
        .drop("left", "right", "closing")
    )


def _with_brackets(positions: DataFrame, offset_samples: DataFrame) -> DataFrame:
    """The samples around each committed offset, as `left` and `right`; an as-of join by sorting.

    Both kinds of rows are laid on one line by offset. Going up, the last sample seen is `left`
    (equal offsets: the latest); going down, the last sample seen is `right` (equal: the earliest).
    """
    sample_rows = offset_samples.select(
        *_SERIES,
        F.col("log_end_offset").alias("at_offset"),
        F.lit(0).alias("is_position"),
        F.col("ts_ms").alias("at_ms"),
        F.struct("ts_ms", "log_end_offset").alias("sample"),
        F.lit(None).alias("position"),
    )
    others = [name for name in positions.columns if name not in _SERIES]
    position_rows = positions.select(
        *_SERIES,
        F.col("committed_offset").alias("at_offset"),
        F.lit(1).alias("is_position"),
        F.col("ts_ms").alias("at_ms"),
        F.lit(None).alias("sample"),
        F.struct(*others).alias("position"),
    )
    up_to_here = (Window.unboundedPreceding, Window.currentRow)
    series = Window.partitionBy(*_SERIES)
    upwards = series.orderBy("at_offset", "is_position", "at_ms").rowsBetween(*up_to_here)
    downwards = series.orderBy(
        F.col("at_offset").desc(), F.col("is_position").desc(), F.col("at_ms").desc()
    ).rowsBetween(*up_to_here)
    return (
        sample_rows.unionByName(position_rows)
        .withColumn("left", F.last("sample", ignorenulls=True).over(upwards))
        .withColumn("right", F.last("sample", ignorenulls=True).over(downwards))
        .filter(F.col("is_position") == 1)
        .select(*_SERIES, "position.*", "left", "right")
    )


def _closing() -> Column:
    """The upper bracket: the position's own log end when it is still open (no sample above it yet)
    or the sample above is younger than the position.
    """
    own = F.struct(F.col("ts_ms"), F.col("log_end_offset"))
    return F.when(F.col("right.ts_ms") <= F.col("ts_ms"), F.col("right")).otherwise(own)


def _interpolated() -> Column:
    """Linear between the brackets."""
    done = F.col("committed_offset") - F.col("left.log_end_offset")
    span = F.col("closing.log_end_offset") - F.col("left.log_end_offset")
    passed_ms = F.col("closing.ts_ms") - F.col("left.ts_ms")
    return F.col("left.ts_ms") + done / span * passed_ms
