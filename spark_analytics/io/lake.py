"""The lake's folders, on whatever file system the data URI names (Hadoop's own clients).

```
bronze/cluster=…/batch=…/part={topic|group|rejected}/dt=…   appended by the ingest
silver/{topic_snapshot|group_snapshot}/run=…                one run's, rewritten
checkpoints/<cluster>                                       Spark's own, of the ingest
quarantine/cluster=…/batch=…/…                              bronze files that could not be read
```
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.runs import ClusterInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from py4j.protocol import Py4JJavaError
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

SILVER: dict[str, StructType] = {
    "topic_snapshot": schemas.TOPIC_SNAPSHOT,
    "group_snapshot": schemas.GROUP_SNAPSHOT,
}


@dataclass(frozen=True, slots=True)
class Lake:
    """Paths, reads and deletions below one data URI."""

    spark: SparkSession
    uri: str

    def bronze_batch(self, cluster_id: str, batch_id: int) -> str:
        return f"{self.uri}/bronze/cluster={cluster_id}/batch={batch_id:010d}"

    def silver(self, table: str, run_id: str) -> str:
        return f"{self.uri}/silver/{table}/run={run_id}"

    def checkpoint(self, cluster_id: str) -> str:
        return f"{self.uri}/checkpoints/{cluster_id}"

    def read_bronze(self, cluster_ids: Sequence[str], from_ts_ms: int, to_ts_ms: int) -> DataFrame:
        """Bronze rows of these clusters, of the days of [from, to); empty when there is none."""
        root = f"{self.uri}/bronze"
        paths = [f"{root}/cluster={cluster_id}" for cluster_id in cluster_ids]
        paths = [path for path in paths if self.exists(path)]
        if not paths:
            return self.spark.createDataFrame([], schemas.BRONZE)
        days = F.col("dt").between(_day(from_ts_ms), _day(to_ts_ms - 1))
        reader = self.spark.read.schema(schemas.BRONZE).option("basePath", root)
        return reader.parquet(*paths).filter(days)

    def exists(self, path: str) -> bool:
        where = self._path(path)
        return bool(self._file_system(where).exists(where))

    def children(self, path: str) -> list[str]:
        """The full paths right below, sorted by name; none when `path` is not there."""
        where = self._path(path)
        system = self._file_system(where)
        if not system.exists(where):
            return []
        return sorted(str(status.getPath().toString()) for status in system.listStatus(where))

    def children_by_age(self, path: str) -> list[str]:
        """The full paths right below, oldest first."""
        where = self._path(path)
        system = self._file_system(where)
        if not system.exists(where):
            return []
        found = sorted(system.listStatus(where), key=lambda status: status.getModificationTime())
        return [str(status.getPath().toString()) for status in found]

    def delete(self, path: str) -> None:
        where = self._path(path)
        self._file_system(where).delete(where, True)

    def quarantine(self, path: str) -> str:
        """Move a bronze file to where no run reads it; its name below the lake.

        Raises:
            ContractError: it could not be moved, so a next run would meet it again.
        """
        name = path.partition("/bronze/")[2]
        target = self._path(f"{self.uri}/quarantine/{name}")
        system = self._file_system(target)
        system.mkdirs(target.getParent())
        if not name or not system.rename(self._path(path), target):
            raise ContractError(f"{path} cannot be read, and not be moved out of the way either")
        return name

    def unreadable_file(self, error: Py4JJavaError) -> str | None:
        """The bronze file that a job could not read, if that is what the error or a cause says."""
        jvm: Any = self.spark._jvm  # noqa: SLF001 - see _path
        cause: Any = error.java_exception
        while cause is not None:
            if jvm.py4j.reflection.TypeUtil.isInstanceOf("org.apache.spark.SparkThrowable", cause):
                path = cause.getMessageParameters().get("path")
                is_read = (cause.getCondition() or "").startswith("FAILED_READ_FILE")
                if is_read and path and "/bronze/cluster=" in path:
                    return str(path)
            cause = cause.getCause()
        return None

    def _path(self, path: str) -> Any:
        jvm: Any = self.spark._jvm  # noqa: SLF001 - PySpark's one way to Hadoop's file systems
        return jvm.org.apache.hadoop.fs.Path(path)

    def _file_system(self, where: Any) -> Any:
        session: Any = self.spark._jsparkSession  # noqa: SLF001 - see _path
        return where.getFileSystem(session.sessionState().newHadoopConf())


def cluster_of(bronze_file: str) -> str:
    """The cluster whose file it is."""
    return bronze_file.partition("/bronze/cluster=")[2].partition("/")[0]


def sampled(bronze: DataFrame, kind: str, from_ts_ms: Column, to_ts_ms: int) -> DataFrame:
    """The accepted slices of one kind, sampled in [from, to)."""
    within = (F.col("ts_ms") >= from_ts_ms) & (F.col("ts_ms") < to_ts_ms)
    return bronze.filter((F.col("part") == kind) & within)


def within_offsets(rows: DataFrame, cluster: ClusterInput) -> DataFrame:
    """Only what a bounded re-run may see of one cluster's bronze rows."""
    if cluster.offsets_end is None:
        return rows
    bound = F.lit(0)
    for partition, end in cluster.offsets_end.items():
        bound = F.when(F.col("kafka_partition") == int(partition), end).otherwise(bound)
    other = F.col("cluster") != cluster.cluster_id
    return rows.filter(other | (F.col("kafka_offset") < bound))


def _day(ts_ms: int) -> str:
    return datetime.fromtimestamp(ts_ms / 1000, UTC).strftime("%Y-%m-%d")
