"""Which telemetry records are accepted.

A record that fails goes to `bronze/rejected` with the name of its fault and the value as it came;
it never reaches silver, and the run says how many there were.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.telemetry import (
    CHUNK_VERSION,
    CHUNKS_MAX,
    KIND_GROUP,
    KIND_TOPIC,
    SLICE_ARRAYS,
    TELEMETRY_VERSION,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

# The collector stamps, the broker appends a moment later; more than this is a broken clock.
AHEAD_MAX_MS = 5 * 60 * 1000
BEHIND_MAX_MS = 3600 * 1000


def fault(cluster_id: str) -> Column:
    """The name of what is wrong with a parsed record of this cluster's topic, null when nothing.

    Expects the columns of `schemas.TELEMETRY_VALUE` and `kafka_ts_ms`.
    """
    is_topic = F.col("kind") == KIND_TOPIC
    is_group = F.col("kind") == KIND_GROUP
    unreadable = F.col("v").isNull() | F.col("kind").isNull()
    is_version = F.col("v").isin(TELEMETRY_VERSION, CHUNK_VERSION)
    unknown = ~is_version | ~(is_topic | is_group)
    # Whoever may write to this topic speaks for this cluster only.
    foreign = ~F.col("cluster_id").eqNullSafe(F.lit(cluster_id))
    nameless = F.col("topic").isNull() | (is_group & F.col("group").isNull())
    ahead = F.col("ts_ms") > F.col("kafka_ts_ms") + AHEAD_MAX_MS
    behind = F.col("ts_ms") < F.col("kafka_ts_ms") - BEHIND_MAX_MS
    ragged = (is_topic & _ragged(KIND_TOPIC)) | (is_group & _ragged(KIND_GROUP))
    return (
        F.when(unreadable, "unreadable")
        .when(unknown, "unknown_kind")
        .when(foreign, "foreign_cluster")
        .when(nameless, "nameless")
        .when(F.col("ts_ms").isNull() | ahead | behind, "clock")
        .when(F.size("partition") <= 0, "empty")
        .when(ragged, "ragged_arrays")
        .when(_no_chunk(), "chunks")
        .when(_partition_null() | _end_before_start(), "offsets")
    )


def _no_chunk() -> Column:
    """Neither a whole slice nor a chunk of one."""
    chunk, chunks = F.col("chunk"), F.col("chunks")
    is_whole = (F.col("v") == TELEMETRY_VERSION) & chunk.isNull() & chunks.isNull()
    is_part = (chunk >= 0) & (chunk < chunks) & (chunks <= CHUNKS_MAX)
    is_chunk = (F.col("v") == CHUNK_VERSION) & F.coalesce(is_part, F.lit(False))
    return ~(is_whole | is_chunk)


def _ragged(kind: str) -> Column:
    differs = [
        # size(NULL) is -1 or NULL depending on a session setting; both must count as a fault.
        ~F.coalesce(F.size(name) == F.size("partition"), F.lit(False))
        for name in SLICE_ARRAYS[kind]
    ]
    return reduce(lambda one, other: one | other, differs)


def _partition_null() -> Column:
    return F.exists("partition", lambda partition: partition.isNull() | (partition < 0))


def _end_before_start() -> Column:
    crossed = F.exists(
        F.arrays_zip("log_start_offset", "log_end_offset"),
        lambda pair: F.coalesce(
            pair["log_end_offset"] < pair["log_start_offset"],
            F.lit(False),
        ),
    )
    return F.coalesce(crossed, F.lit(False))
