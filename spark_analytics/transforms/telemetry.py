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

    Gives the columns of `schemas.TELEMETRY_VALUE`, the record's coordinates, `dt` (UTC date of
    the sample), `value` as text and `fault`: the name that `quality.fault` gives, over the same
    columns and `kafka_ts_ms`.
    """
    read = records.select(
        F.col("partition").alias("kafka_partition"),
        F.col("offset").alias("kafka_offset"),
        F.unix_millis("timestamp").alias("kafka_ts_ms"),
        F.col("value").cast("string").alias("value"),
    ).withColumn("parsed", F.from_json("value", schemas.TELEMETRY_VALUE))
    return (
        read.select(
            *(F.col("parsed").getField(name).alias(name) for name in _FIELDS),
            "kafka_partition",
            "kafka_offset",
            "kafka_ts_ms",
            "value",
        )
        .withColumn("fault", fault)
        .withColumn(
            "dt",
            F.date_format(
                F.timestamp_millis(F.coalesce(F.col("ts_ms"), F.col("kafka_ts_ms"))), "yyyy-MM-dd"
            ),
        )
    )


def to_bronze(parsed: DataFrame) -> DataFrame:
    """Parsed records as bronze holds them: `part` is topic, group or rejected.

    A rejected record keeps the value as it came, for people to look at; of the others the parsed
    columns are enough.
    """
    is_good = F.col("fault").isNull()
    return parsed.withColumn("value", F.when(~is_good, F.col("value"))).withColumn(
        "part", F.when(is_good, F.col("kind")).otherwise(REJECTED)
    )
