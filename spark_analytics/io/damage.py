"""Data files that cannot be read: found, forgotten by their table, and put aside."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.io import cursors
from spark_analytics.io.tables import TABLES, Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from spark_analytics.io.lake import Lake

PROBED_MAX = 200
"""Files that are read one by one to find the one whose length is right and whose content is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile:
    """One data file. `name` is its path below the lake's tables."""

    table: Table
    path: str
    cluster_id: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/tables/")[2]


def find(lake: Lake, but_of: Collection[str]) -> list[DamagedFile]:
    """The files of other clusters than `but_of` that are gone, of another length, or unreadable.

    Called when a job has failed. Lengths cost nothing to compare and tell of every file that was
    cut; only when they are all right are files read, the youngest first.
    """
    there = [(file, size) for file, size in _files(lake) if file.cluster_id not in but_of]
    if cut := [file for file, size in there if lake.size(file.path) != size]:
        return cut
    return [file for file, _ in there[:PROBED_MAX] if not _is_readable(lake, file)]


def put_aside(lake: Lake, file: DamagedFile) -> None:
    """The table forgets the file, and the cluster's silver is made again from what is left."""
    # First the table: a file that is gone and still listed fails every run.
    change = lake.loaded(file.table).newDelete()
    # No string: by one Python reaches a protected method of that name, which deletes the file.
    change.deleteFile(lake.text(file.path))
    change.commit()
    with contextlib.suppress(Py4JJavaError):
        # Where it cannot be moved it stays, and goes with the other files that no table knows.
        lake.move(file.path, f"{lake.uri}/quarantine/{file.name}")
    cursors.forget(lake, file.cluster_id)


def _files(lake: Lake) -> Iterator[tuple[DamagedFile, int]]:
    for table in TABLES:
        rows = lake.spark.table(f"{table.path}.files").select(
            "file_path",
            "file_size_in_bytes",
            F.col(f"partition.{table.cluster}").alias("cluster_id"),
        )
        # Names begin with the number of their task and hold that of their job: newer ones later.
        for row in sorted(rows.collect(), reverse=True):
            file = DamagedFile(
                table=table, path=row["file_path"], cluster_id=row["cluster_id"] or ""
            )
            yield file, row["file_size_in_bytes"]


def _is_readable(lake: Lake, file: DamagedFile) -> bool:
    rows = lake.spark.read.schema(file.table.schema).parquet(file.path)
    try:
        rows.select(F.sum(F.hash(*rows.columns).cast("bigint"))).collect()
    except (Py4JJavaError, PySparkException):
        return False
    return True
