"""Bronze slices → silver: the last whole slice of each window, its partitions in arrays.

Taking the last *slice*, not the last sample of each partition, keeps the partitions of a group
together: all numbers of one row in gold are of one instant. Records that arrived twice fall away,
and so do the chunks of a slice that is not whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC, SLICE_ARRAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

_TOPIC_KEY = ("cluster_id", "topic")
_GROUP_KEY = ("cluster_id", "group", "topic")
_SCALARS = {
    KIND_TOPIC: ("topic_id", "retention_ms", "retention_bytes"),
    KIND_GROUP: ("topic_id", "state", "members"),
}


def topic_slices(slices: DataFrame, window_s: int, *, has_chunks: bool | None = None) -> DataFrame:
    """Bronze topic slices → `schemas.TOPIC_SLICE`; looked for chunks, unless that is known."""
    found = _last_slices(slices, KIND_TOPIC, _TOPIC_KEY, window_s, has_chunks)
    return found.select(*schemas.TOPIC_SLICE.names)


def group_slices(slices: DataFrame, window_s: int, *, has_chunks: bool | None = None) -> DataFrame:
    """Bronze group slices → `schemas.GROUP_SLICE`; looked for chunks, unless that is known."""
    found = _last_slices(slices, KIND_GROUP, _GROUP_KEY, window_s, has_chunks)
    return found.select(*schemas.GROUP_SLICE.names)


def by_partition(slices: DataFrame, kind: str) -> DataFrame:
    """Slices, one row a partition."""
    arrays = ("partition", *SLICE_ARRAYS[kind])
    others = [name for name in slices.columns if name not in arrays]
    return slices.select(*others, F.inline(F.arrays_zip(*arrays)))


def chunked(slices: DataFrame) -> DataFrame:
    """The records that are not a whole slice each."""
    return slices.filter(F.col("chunks") > 1)


def incomplete(slices: DataFrame, *key: str) -> DataFrame:
    """Key, `ts_ms` and `chunks` of every slice of which a chunk is not among these records."""
    counted = chunked(slices).groupBy(*key, "ts_ms", "chunks").agg(_seen().alias("seen"))
    return counted.filter(F.col("seen") < F.col("chunks")).drop("seen")


def _last_slices(
    slices: DataFrame, kind: str, key: tuple[str, ...], window_s: int, has_chunks: bool | None
) -> DataFrame:
    window_ms = window_s * 1000
    scalars, arrays = _SCALARS[kind], SLICE_ARRAYS[kind]
    kept = ("ts_ms", "kafka_offset", *scalars, "partition", *arrays)
    windowed = slices.withColumn("window_ms", F.col("ts_ms") - F.col("ts_ms") % window_ms)
    window = (*key, "window_ms")
    # Few clusters have a topic that large, and counting chunks reads bronze twice.
    if has_chunks is None:
        has_chunks = not chunked(slices).isEmpty()
    last = (_last_chunks if has_chunks else _last)(windowed, window, kept)
    return last.withColumn("topic_id", F.coalesce("topic_id", F.lit("")))


def _last(slices: DataFrame, window: Sequence[str], kept: Sequence[str]) -> DataFrame:
    """Of each window the last record, where each is a slice."""
    newest = F.max_by(F.struct(*kept), F.struct("ts_ms", "kafka_offset")).alias("slice")
    return slices.groupBy(*window).agg(newest).select(*window, "slice.*")


def _last_chunks(slices: DataFrame, window: Sequence[str], kept: Sequence[str]) -> DataFrame:
    """Of each window every chunk of the last whole slice, with that slice's last offset on each:
    what is kept or replaced is a slice.
    """
    numbered = slices.withColumns(
        {"chunk": F.coalesce("chunk", F.lit(0)), "chunks": F.coalesce("chunks", F.lit(1))}
    )
    # A slice that was cut otherwise is another one.
    one = (*window, "ts_ms", "chunks")
    whole = (
        numbered.groupBy(*one)
        .agg(_seen().alias("seen"), F.max("kafka_offset").alias("head"))
        .filter(F.col("seen") == F.col("chunks"))
    )
    heads = (
        whole.groupBy(*window)
        .agg(F.max(F.struct("ts_ms", "head", "chunks")).alias("last"))
        .select(*window, "last.*")
    )
    newest = F.max_by(F.struct(*kept, "head"), "kafka_offset").alias("slice")
    return (
        numbered.join(heads, on=[*one], how="inner")
        .groupBy(*window, "chunk")
        .agg(newest)
        .select(*window, "slice.*")
        .withColumn("kafka_offset", F.col("head"))
        .drop("head")
    )


def _seen() -> Column:
    return F.size(F.collect_set("chunk"))
