"""The contracts as Spark types. Explicit everywhere: nothing is inferred from data."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from spark_analytics.contracts import gold
from spark_analytics.contracts.gold import ColumnType, GoldTable

CATALOG = "lake"
"""The name by which Spark knows the catalog of the lake's tables."""

_LONGS = ArrayType(LongType())
_INTS = ArrayType(IntegerType())

# One JSON value may be either kind; fields of the other kind are null.
TELEMETRY_VALUE = StructType(
    [
        StructField("v", IntegerType()),
        StructField("kind", StringType()),
        StructField("ts_ms", LongType()),
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("topic_id", StringType()),
        StructField("retention_ms", LongType()),
        StructField("retention_bytes", LongType()),
        StructField("group", StringType()),
        StructField("state", StringType()),
        StructField("members", IntegerType()),
        StructField("partition", _INTS),
        StructField("leader_epoch", _INTS),
        StructField("committed_offset", _LONGS),
        StructField("log_start_offset", _LONGS),
        StructField("log_end_offset", _LONGS),
        StructField("size_bytes", _LONGS),
        StructField("oldest_ts_ms", _LONGS),
        # Null in a record that is a whole slice.
        StructField("chunk", IntegerType()),
        StructField("chunks", IntegerType()),
    ]
)

# Where a slice stood in the telemetry topic: proves "exactly once" and orders equal instants.
_COORDINATES = [
    StructField("kafka_partition", IntegerType()),
    StructField("kafka_offset", LongType()),
    StructField("kafka_ts_ms", LongType()),
]
# Whose topic it was, which kind of row it is (topic, group, rejected), and on which day it lies.
_LAKE = [
    StructField("cluster", StringType()),
    StructField("part", StringType()),
    StructField("sampled_at", TimestampType()),
]

# `value`, the record as it came, and `fault` are null for accepted records.
BRONZE = StructType(
    [
        *TELEMETRY_VALUE.fields,
        *_COORDINATES,
        StructField("value", StringType()),
        StructField("fault", StringType()),
        *_LAKE,
    ]
)

# The last whole slice of a window. `kafka_offset` orders slices of one instant.
TOPIC_SLICE = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("topic_id", StringType()),
        StructField("window_ms", LongType()),
        StructField("ts_ms", LongType()),
        StructField("retention_ms", LongType()),
        StructField("retention_bytes", LongType()),
        StructField("partition", _INTS),
        StructField("leader_epoch", _INTS),
        StructField("log_start_offset", _LONGS),
        StructField("log_end_offset", _LONGS),
        StructField("size_bytes", _LONGS),
        StructField("oldest_ts_ms", _LONGS),
        StructField("kafka_offset", LongType()),
    ]
)
GROUP_SLICE = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("group", StringType()),
        StructField("topic", StringType()),
        StructField("topic_id", StringType()),
        StructField("window_ms", LongType()),
        StructField("ts_ms", LongType()),
        StructField("state", StringType()),
        StructField("members", IntegerType()),
        StructField("partition", _INTS),
        StructField("committed_offset", _LONGS),
        StructField("log_start_offset", _LONGS),
        StructField("log_end_offset", _LONGS),
        StructField("kafka_offset", LongType()),
    ]
)
# Silver keeps them by the hour.
_BY_HOUR = StructField("window_at", TimestampType())
SILVER_TOPIC = StructType([*TOPIC_SLICE.fields, _BY_HOUR])
SILVER_GROUP = StructType([*GROUP_SLICE.fields, _BY_HOUR])

_TYPES: Mapping[ColumnType, DataType] = {
    ColumnType.STRING: StringType(),
    ColumnType.INT: IntegerType(),
    ColumnType.LONG: LongType(),
    ColumnType.DOUBLE: DoubleType(),
}


def _gold(table: GoldTable) -> StructType:
    return StructType([StructField(column.name, _TYPES[column.type]) for column in table.columns])


GROUP_LAG = _gold(gold.GROUP_LAG)
TOPIC_RETENTION = _gold(gold.TOPIC_RETENTION)
GROUP_EXPIRY = _gold(gold.GROUP_EXPIRY)
GROUP_ROLLUP = _gold(gold.GROUP_ROLLUP)
TOPIC_ROLLUP = _gold(gold.TOPIC_ROLLUP)
CLUSTER_ROLLUP = _gold(gold.CLUSTER_ROLLUP)
PARTITION_ROLLUP = _gold(gold.PARTITION_ROLLUP)
