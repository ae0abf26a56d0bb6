"""The contracts as Spark types. Explicit everywhere: nothing is inferred from data."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

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
    ]
)

# Where a slice stood in the telemetry topic: proves "exactly once" and orders equal instants.
_COORDINATES = [
    StructField("kafka_partition", IntegerType()),
    StructField("kafka_offset", LongType()),
    StructField("kafka_ts_ms", LongType()),
]
# Partition columns of the lake: `cluster=…/batch=…/part=…/dt=…`.
_LAKE = [
    StructField("cluster", StringType()),
    StructField("batch", StringType()),
    StructField("part", StringType()),
    StructField("dt", StringType()),
]

# `value`, the record as it came, and `fault` are null for records that are believed.
BRONZE = StructType(
    [
        *TELEMETRY_VALUE.fields,
        *_COORDINATES,
        StructField("value", StringType()),
        StructField("fault", StringType()),
        *_LAKE,
    ]
)

TOPIC_SNAPSHOT = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("window_ms", LongType()),
        StructField("ts_ms", LongType()),
        StructField("leader_epoch", IntegerType()),
        StructField("log_start_offset", LongType()),
        StructField("log_end_offset", LongType()),
        StructField("size_bytes", LongType()),
        StructField("oldest_ts_ms", LongType()),
        StructField("retention_ms", LongType()),
        StructField("retention_bytes", LongType()),
    ]
)
GROUP_SNAPSHOT = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("group", StringType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("window_ms", LongType()),
        StructField("ts_ms", LongType()),
        StructField("state", StringType()),
        StructField("members", IntegerType()),
        StructField("committed_offset", LongType()),
        StructField("log_start_offset", LongType()),
        StructField("log_end_offset", LongType()),
    ]
)
OFFSET_SAMPLE = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("ts_ms", LongType()),
        StructField("log_end_offset", LongType()),
    ]
)

GROUP_LAG = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("group", StringType()),
        StructField("topic", StringType()),
        StructField("ts_ms", LongType()),
        StructField("sampled_ms", LongType()),
        StructField("partitions", IntegerType()),
        StructField("lag_records", LongType()),
        StructField("lag_seconds", DoubleType()),
        StructField("lag_seconds_at_least", DoubleType()),
        StructField("method", StringType()),
        StructField("trend", StringType()),
        StructField("trend_records_per_s", DoubleType()),
        StructField("produce_records_per_s", DoubleType()),
        StructField("consume_records_per_s", DoubleType()),
        StructField("eta_seconds", DoubleType()),
        StructField("lost_records", LongType()),
        StructField("members", IntegerType()),
        StructField("state", StringType()),
        StructField("status", StringType()),
    ]
)
TOPIC_RETENTION = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("ts_ms", LongType()),
        StructField("sampled_ms", LongType()),
        StructField("partitions", IntegerType()),
        StructField("bytes", LongType()),
        StructField("records", LongType()),
        StructField("age_seconds", DoubleType()),
        StructField("retention_ms", LongType()),
        StructField("retention_bytes", LongType()),
    ]
)
GROUP_EXPIRY = StructType(
    [
        StructField("cluster_id", StringType()),
        StructField("topic", StringType()),
        StructField("group", StringType()),
        StructField("ts_ms", LongType()),
        StructField("oldest_unread_expires_in_s", DoubleType()),
        StructField("first_loss_in_s", DoubleType()),
        StructField("method", StringType()),
        StructField("lost_records", LongType()),
        StructField("status", StringType()),
    ]
)
GOLD = {"group_lag": GROUP_LAG, "topic_retention": TOPIC_RETENTION, "group_expiry": GROUP_EXPIRY}
