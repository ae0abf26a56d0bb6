"""The lake's Iceberg tables: their columns, how they are partitioned, and how they grow columns.

Bronze lies by day, then by cluster: a run reads the few files that are new, what is too old goes by
dropping whole days, and a file belongs to one cluster. Silver lies by hour, then by cluster: an
hour is what a run writes anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_analytics import schemas
from spark_analytics.contracts.errors import ContractError
from spark_analytics.schemas import CATALOG

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table. `cluster` and `time` are the columns by which it is partitioned.

    `measured` are the columns whose least and greatest value in each file are kept, to pass over
    files without opening them.
    """

    name: str
    schema: StructType
    unit: str
    time: str
    cluster: str
    measured: tuple[str, ...]

    @property
    def path(self) -> str:
        """By which SQL knows it."""
        return f"{CATALOG}.{self.name}"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.schema.fields)


BRONZE = Table(
    name="bronze.telemetry",
    schema=schemas.BRONZE,
    unit="days",
    time="sampled_at",
    cluster="cluster",
    measured=("sampled_at", "ts_ms", "part", "kafka_partition", "kafka_offset"),
)
SILVER_TOPIC = Table(
    name="silver.topic_slice",
    schema=schemas.SILVER_TOPIC,
    unit="hours",
    time="window_at",
    cluster="cluster_id",
    measured=("window_at", "ts_ms", "topic"),
)
SILVER_GROUP = Table(
    name="silver.group_slice",
    schema=schemas.SILVER_GROUP,
    unit="hours",
    time="window_at",
    cluster="cluster_id",
    measured=("window_at", "ts_ms", "topic", "group"),
)
TABLES = (BRONZE, SILVER_TOPIC, SILVER_GROUP)

TIDIED = "penstock.tidied-ms"
"""A property: when a table was tidied last, milliseconds since the epoch."""
PROPERTIES: Mapping[str, str] = {
    "format-version": "2",
    # Rows come grouped, or few: another shuffle before each write costs more than its order saves.
    "write.distribution-mode": "none",
    "write.spark.fanout.enabled": "true",
    "write.metadata.metrics.default": "none",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    # Clusters are read side by side, and each appends to the same table.
    "commit.retry.num-retries": "20",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
}


def ensure(spark: SparkSession, table: Table) -> None:
    """Make the table, or add the columns that this version has and it lacks.

    Raises:
        ContractError: a column is there with another type.
    """
    if not spark.catalog.tableExists(table.path):
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{table.name.partition('.')[0]}")
        spark.sql(_create(table))
        return
    there = {field.name: field.dataType for field in spark.table(table.path).schema.fields}
    missing = []
    for field in table.schema.fields:
        if field.name not in there:
            missing.append(f"`{field.name}` {field.dataType.simpleString()}")
        elif there[field.name] != field.dataType:
            raise ContractError(
                f"{table.name}.{field.name} is {there[field.name].simpleString()} in the lake, "
                f"not {field.dataType.simpleString()}"
            )
    if missing:
        spark.sql(f"ALTER TABLE {table.path} ADD COLUMNS ({', '.join(missing)})")


def loaded(spark: SparkSession, table: Table) -> Any:
    """Iceberg's own `Table`, as it is now."""
    jvm: Any = spark._jvm  # noqa: SLF001 - Iceberg has no Python API in Spark
    session: Any = spark._jsparkSession  # noqa: SLF001 - see above
    return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session, table.path)


def _create(table: Table) -> str:
    columns = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in table.schema.fields)
    measured = {f"write.metadata.metrics.column.{name}": "full" for name in table.measured}
    tidied = {TIDIED: str(time.time_ns() // 1_000_000)}
    properties = ", ".join(
        f"'{key}' = '{value}'" for key, value in {**PROPERTIES, **measured, **tidied}.items()
    )
    return (
        f"CREATE TABLE IF NOT EXISTS {table.path} ({columns}) USING iceberg "
        f"PARTITIONED BY ({table.unit}({table.time}), {table.cluster}) TBLPROPERTIES ({properties})"
    )
