"""Bronze slices → silver snapshots: the last slice of each window, one row a partition.

Taking the last *slice*, not the last sample of each partition, keeps the partitions of a group
together: all numbers of one row in gold are of one instant. Records that arrived twice fall away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC, SLICE_ARRAYS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def topic_snapshots(slices: DataFrame, window_s: int) -> DataFrame:
    """Bronze topic slices → `schemas.TOPIC_SNAPSHOT`."""
    scalars = ("topic_id", "retention_ms", "retention_bytes")
    arrays = SLICE_ARRAYS[KIND_TOPIC]
    return _exploded(slices, ("cluster_id", "topic"), scalars, arrays, window_s).select(
        *_names(schemas.TOPIC_SNAPSHOT)
    )


def group_snapshots(slices: DataFrame, window_s: int) -> DataFrame:
    """Bronze group slices → `schemas.GROUP_SNAPSHOT`."""
    scalars = ("topic_id", "state", "members")
    arrays = SLICE_ARRAYS[KIND_GROUP]
    return _exploded(slices, ("cluster_id", "group", "topic"), scalars, arrays, window_s).select(
        *_names(schemas.GROUP_SNAPSHOT)
    )


def _exploded(
    slices: DataFrame,
    key: tuple[str, ...],
    scalars: tuple[str, ...],
    arrays: tuple[str, ...],
    window_s: int,
) -> DataFrame:
    window_ms = window_s * 1000
    kept = ("ts_ms", "kafka_offset", *scalars, "partition", *arrays)
    last = (
        slices.withColumn("window_ms", F.col("ts_ms") - F.col("ts_ms") % window_ms)
        .groupBy(*key, "window_ms")
        .agg(F.max_by(F.struct(*kept), F.struct("ts_ms", "kafka_offset")).alias("slice"))
        .select(*key, "window_ms", "slice.*")
    )
    return last.select(
        *key,
        "window_ms",
        "ts_ms",
        "kafka_offset",
        *scalars,
        F.inline(F.arrays_zip("partition", *arrays)),
    ).withColumn("topic_id", F.coalesce("topic_id", F.lit("")))


def _names(schema: StructType) -> list[str]:
    return [field.name for field in schema.fields]
