"""Slices of groups and topics → gold, topic by topic, in Python workers.

A slice holds its partitions in arrays: Spark moves and sorts a row a topic and window, and NumPy
computes over the partitions of many topics at once. All that concerns one topic meets in one task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from spark_analytics import schemas
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC
from spark_analytics.formulas import arrow, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.rules import Rules

_STRING, _INT, _LONG, _DOUBLE = StringType(), IntegerType(), LongType(), DoubleType()
_INTS, _LONGS = ArrayType(_INT), ArrayType(_LONG)
SLICES = StructType(
    [
        StructField("kind", _STRING),
        StructField("cluster_id", _STRING),
        StructField("topic", _STRING),
        StructField("topic_id", _STRING),
        StructField("group", _STRING),
        StructField("window_ms", _LONG),
        StructField("ts_ms", _LONG),
        StructField("from_ms", _LONG),
        StructField("state", _STRING),
        StructField("members", _INT),
        StructField("retention_ms", _LONG),
        StructField("retention_bytes", _LONG),
        StructField("partition", _INTS),
        StructField("leader_epoch", _INTS),
        StructField("committed_offset", _LONGS),
        StructField("log_start_offset", _LONGS),
        StructField("log_end_offset", _LONGS),
        StructField("size_bytes", _LONGS),
        StructField("oldest_ts_ms", _LONGS),
    ]
)
"""What a task reads: slices of topics and of groups. What a kind does not have is null."""

GOLD = StructType(
    [
        StructField("group_lag", schemas.GROUP_LAG),
        StructField("group_expiry", schemas.GROUP_EXPIRY),
        StructField("topic_retention", schemas.TOPIC_RETENTION),
    ]
)
"""What a task says: of a slice of a group its lag and expiry, of one of a topic its retention."""

LAGS = StructType(
    [
        *(StructField(name, _STRING) for name in ("cluster_id", "group", "topic", "topic_id")),
        StructField("partition", _INT),
        *(StructField(name, _LONG) for name in ("window_ms", "ts_ms")),
        *(
            StructField(name, _LONG)
            for name in ("committed_offset", "log_start_offset", "log_end_offset", "size_bytes")
        ),
        *(StructField(name, _LONG) for name in ("lag_records", "lost_records")),
        *(StructField(name, _DOUBLE) for name in ("time_lag_s", "time_lag_at_least_s")),
    ]
)
"""One row a partition and window of a group, with what that one sample says."""


def gold(topics: DataFrame, groups: DataFrame, rules: Rules, *, from_ms: Column) -> DataFrame:
    """Slices (`schemas.SILVER_…`) → `GOLD`, of windows from `from_ms` on, an expression over
    `cluster_id`. Topics reach back before it as far as offset samples are wanted, groups as far as
    trends look.
    """
    return _in_tasks(topics, groups, from_ms, gold_work(rules), GOLD)


def lags(topics: DataFrame, groups: DataFrame, rules: Rules) -> DataFrame:
    """Slices → `LAGS`, of all windows of the groups."""
    return _in_tasks(topics, groups, F.lit(0), lags_work(rules), LAGS)


def _in_tasks(
    topics: DataFrame,
    groups: DataFrame,
    from_ms: Column,
    work: Callable[..., object],
    to: StructType,
) -> DataFrame:
    rows = _slices(topics, KIND_TOPIC, from_ms).unionByName(_slices(groups, KIND_GROUP, from_ms))
    by_topic = rows.repartition(*arrow.TOPIC_KEY).sortWithinPartitions(*arrow.TOPIC_KEY)
    return by_topic.mapInArrow(work, to)


def _slices(rows: DataFrame, kind: str, from_ms: Column) -> DataFrame:
    there = {"kind": F.lit(kind), "from_ms": from_ms.cast("bigint")}
    return rows.select(
        *(
            there.get(
                field.name,
                F.col(field.name) if field.name in rows.columns else F.lit(None),
            )
            .cast(field.dataType)
            .alias(field.name)
            for field in SLICES.fields
        )
    )


def gold_work(rules: Rules) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    at_once = arrow.SAMPLES_AT_ONCE

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in arrow.whole_topics(batches, at_once):
            yield from tables.gold_of(table, rules)

    return work


def lags_work(rules: Rules) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    at_once = arrow.SAMPLES_AT_ONCE

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in arrow.whole_topics(batches, at_once):
            yield from tables.lags_of(table, rules)

    return work
