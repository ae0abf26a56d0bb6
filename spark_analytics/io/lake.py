"""The lake: Iceberg tables and what lies beside them, on whatever file system the data URI names.

```
tables/{bronze|silver}/…          Iceberg's: `io.tables`; with a database as catalog only the data
streams/<bronze's id>/<cluster>   Spark's own checkpoints of the ingest, which go with that table
quarantine/…                      data files that could not be read
```
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.io import tables
from spark_analytics.io.tables import BRONZE, TABLES
from spark_analytics.schemas import CATALOG

if TYPE_CHECKING:
    from typing import Self

    from pyspark.sql import Column, DataFrame, SparkSession

    from spark_analytics.contracts.runs import ClusterInput
    from spark_analytics.io.tables import Table

log = logging.getLogger(__name__)
PLAIN_FOLDERS = ("bronze", "silver", "checkpoints")
"""What a lake was before its tables were Iceberg's."""
FORMER_TABLES = ("silver.topic_snapshot", "silver.group_snapshot")
"""Silver with a row a partition. It is made again from bronze, as far back as a run looks."""


@dataclass(frozen=True, slots=True)
class Lake:
    """Tables and files of one data URI."""

    spark: SparkSession
    uri: str

    @classmethod
    def opened(cls, spark: SparkSession, uri: str) -> Self:
        """With its tables made, or grown to this version's columns; an older lake begins anew.

        Raises:
            ContractError: a table that is there cannot become this version's.
        """
        lake = cls(spark, uri.rstrip("/"))
        lake.drop_plain_folders()
        lake.drop_former_tables()
        for table in TABLES:
            tables.ensure(spark, table)
        return lake

    def drop_plain_folders(self) -> None:
        """Telemetry is in its topics for a week, from where the new tables are filled again."""
        for name in PLAIN_FOLDERS:
            path = f"{self.uri}/{name}"
            if self.exists(path):
                log.warning("%s is of an older version and is removed: the lake begins anew", path)
                self.delete(path)

    def drop_former_tables(self) -> None:
        """With their files."""
        for name in FORMER_TABLES:
            path = f"{CATALOG}.{name}"
            if self.spark.catalog.tableExists(path):
                log.warning("%s is of an older version and is removed: silver begins anew", name)
                self.spark.sql(f"DROP TABLE {path} PURGE")

    def read(self, table: Table) -> DataFrame:
        return self.spark.table(table.path)

    def loaded(self, table: Table) -> Any:
        """Iceberg's own `Table`, as it is now."""
        return tables.loaded(self.spark, table)

    def streams(self) -> str:
        """Where the checkpoints of this bronze table are: another table begins at the beginning."""
        return f"{self.uri}/streams/{self.loaded(BRONZE).uuid()}"

    def exists(self, path: str) -> bool:
        where = self._path(path)
        return bool(self._file_system(where).exists(where))

    def size(self, path: str) -> int | None:
        """Bytes of a file; None when there is none."""
        where = self._path(path)
        system = self._file_system(where)
        return int(system.getFileStatus(where).getLen()) if system.exists(where) else None

    def children(self, path: str) -> dict[str, int]:
        """What is right below: names, and when each was changed in milliseconds."""
        where = self._path(path)
        system = self._file_system(where)
        if not system.exists(where):
            return {}
        return {
            str(status.getPath().getName()): int(status.getModificationTime())
            for status in system.listStatus(where)
        }

    def delete(self, path: str) -> None:
        where = self._path(path)
        self._file_system(where).delete(where, True)

    def move(self, path: str, target: str) -> bool:
        """False when it could not be moved, or was not there."""
        to = self._path(target)
        system = self._file_system(to)
        system.mkdirs(to.getParent())
        source = self._path(path)
        return bool(system.exists(source) and system.rename(source, to))

    def text(self, text: str) -> Any:
        """A Java text that is no `String`, for methods that take any `CharSequence`."""
        jvm: Any = self.spark._jvm  # noqa: SLF001 - see _path
        return jvm.java.lang.StringBuilder(text)

    def _path(self, path: str) -> Any:
        jvm: Any = self.spark._jvm  # noqa: SLF001 - PySpark's one way to Hadoop's file systems
        return jvm.org.apache.hadoop.fs.Path(path)

    def _file_system(self, where: Any) -> Any:
        session: Any = self.spark._jsparkSession  # noqa: SLF001 - see _path
        return where.getFileSystem(session.sessionState().newHadoopConf())


def sampled(bronze: DataFrame, kind: str, from_ts_ms: Column, to_ts_ms: int | None) -> DataFrame:
    """The accepted slices of one kind, sampled from `from_ts_ms` on and before `to_ts_ms`."""
    rows = bronze.filter((F.col("part") == kind) & (F.col("ts_ms") >= from_ts_ms))
    return rows if to_ts_ms is None else rows.filter(F.col("ts_ms") < to_ts_ms)


def within_offsets(rows: DataFrame, cluster: ClusterInput) -> DataFrame:
    """Only what a bounded re-run may see of one cluster's bronze rows."""
    if cluster.offsets_end is None:
        return rows
    bound = F.lit(0)
    for partition, end in cluster.offsets_end.items():
        bound = F.when(F.col("kafka_partition") == int(partition), end).otherwise(bound)
    other = F.col("cluster") != cluster.cluster_id
    return rows.filter(other | (F.col("kafka_offset") < bound))


def at(ts_ms: int) -> Column:
    """An instant as a timestamp that Iceberg prunes by."""
    return F.timestamp_millis(F.lit(max(ts_ms, 0)))
