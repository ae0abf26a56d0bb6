"""Kafka rows → parsed telemetry, with the fault of those that are rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REJECTED = "rejected"
"""The part of bronze that no formula reads."""

_FIELDS = [field.name for field in schemas.TELEMETRY_VALUE.fields]


def parse(records: DataFrame, fault: Column) -> DataFrame:
    """`value`, `partition`, `offset`, `timestamp` of the connector → one row a record.

    Gives the columns of `schemas.TELEMETRY_VALUE`, the record's coordinates, `value` as text and
    `fault`: the name that `quality.fault` gives, over the same columns and `kafka_ts_ms`.
    """
    read = records.select(
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.unix_millis("timestamp").alias("kafka_ts_ms"),
        F.col("value").cast("string").alias("value"),
    ).withColumn("parsed", F.from_json("value", schemas.TELEMETRY_VALUE))
    return read.select(
        *(F.col("parsed").getField(name).alias(name) for name in _FIELDS),
        "kafka_partition",
        "kafka_offset",
        "kafka_ts_ms",
        "value",
    ).withColumn("fault", fault)


def to_bronze(parsed: DataFrame, cluster_id: str) -> DataFrame:
    """Parsed records of one cluster's topic → `schemas.BRONZE`; `part` is topic, group or rejected.

    A rejected record keeps the value as it came, for people to look at, and lies on the day on
    which it came: what it says of its time may be no time at all. Of the others the parsed columns
    are enough.
    """
    is_good = F.col("fault").isNull()
    at_ms = F.when(is_good, F.col("ts_ms")).otherwise(F.col("kafka_ts_ms"))
    stored = {
        "value": F.when(~is_good, F.col("value")),
        "cluster": F.lit(cluster_id),
        "part": F.when(is_good, F.col("kind")).otherwise(REJECTED),
        "sampled_at": F.timestamp_millis(at_ms),
    }
    return parsed.withColumns(stored).select(*(field.name for field in schemas.BRONZE.fields))
