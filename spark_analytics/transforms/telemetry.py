"""Kafka rows → parsed telemetry, with the fault of those that cannot be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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


def believed(parsed: DataFrame, kind: str) -> DataFrame:
    """The good slices of one kind, as bronze holds them."""
    good = F.col("fault").isNull() & (F.col("kind") == kind)
    return parsed.filter(good).drop("value", "fault")


def rejected(parsed: DataFrame) -> DataFrame:
    """The others, as they came, with the name of the fault."""
    return parsed.filter(F.col("fault").isNotNull()).select(
        "kafka_partition", "kafka_offset", "kafka_ts_ms", "value", "fault", "dt"
    )
