"""Keeping a table small, by Iceberg's own procedures; each says what it did."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.schemas import CATALOG

if TYPE_CHECKING:
    from pyspark.sql import Row

    from spark_analytics.io.lake import Lake
    from spark_analytics.io.tables import Table

SMALL_FILES_MIN = 8
"""Small data files of one partition before they are made one."""
GROUPS_AT_ONCE = 2
GROUP_BYTES_MAX = 256 << 20
"""Of files that are rewritten together: a driver of 768 MB holds two of them."""


def compact(lake: Lake, table: Table, from_ms: int, to_ms: int) -> int:
    """Make many small files of a partition into few; how many went.

    Of partitions whose time lies in [from, to): both at the beginning of a partition's unit.
    """
    row = _call(
        lake,
        "rewrite_data_files",
        table,
        where=f'"{table.time} >= {_timestamp(from_ms)} AND {table.time} < {_timestamp(to_ms)}"',
        options="map("
        f"'min-input-files', '{SMALL_FILES_MIN}', "
        f"'max-file-group-size-bytes', '{GROUP_BYTES_MAX}', "
        f"'max-concurrent-file-group-rewrites', '{GROUPS_AT_ONCE}', "
        "'partial-progress.enabled', 'true')",
    )
    return int(row[0]["rewritten_data_files_count"])


def small_files(lake: Lake, table: Table, from_ms: int) -> int:
    """The most data files that any partition from that time on has."""
    files = lake.spark.table(f"{table.path}.partitions")
    field = f"partition.{table.time}_{table.unit.removesuffix('s')}"
    first = datetime.fromtimestamp(max(from_ms, 0) / 1000, UTC)
    unit = first.date() if table.unit == "days" else int(first.timestamp() // 3600)
    row = files.filter(F.col(field) >= F.lit(unit)).agg(F.max("file_count")).collect()[0]
    return int(row[0] or 0)


def expire_snapshots(lake: Lake, table: Table, older_than_ms: int) -> int:
    """Forget what the table was before; how many data files went with it."""
    row = _call(
        lake,
        "expire_snapshots",
        table,
        older_than=_timestamp(older_than_ms),
        retain_last="1",
    )
    return int(row[0]["deleted_data_files_count"])


def remove_orphans(lake: Lake, table: Table, older_than_ms: int) -> int:
    """Remove files that no snapshot knows, left by runs that were killed; how many.

    Iceberg refuses less than a day: a younger file may be of a write that is going on.
    """
    return len(_call(lake, "remove_orphan_files", table, older_than=_timestamp(older_than_ms)))


def drop_before(lake: Lake, table: Table, before_ms: int) -> int:
    """Drop whole days older than that; how many data files they had. No file is read."""
    day_ms = before_ms - before_ms % (24 * 3600 * 1000)
    before = lake.loaded(table).currentSnapshot()
    condition = f"{table.time} < {_timestamp(day_ms)}"
    lake.spark.sql(f"DELETE FROM {table.path} WHERE {condition}")  # noqa: S608 - names of our own
    after = lake.loaded(table).currentSnapshot()
    if before is None or after.snapshotId() == before.snapshotId():
        return 0
    return int(after.summary().get("deleted-data-files") or 0)


def _call(lake: Lake, procedure: str, table: Table, **arguments: str) -> list[Row]:
    given = {"table": f"'{table.name}'", **arguments}
    text = ", ".join(f"{name} => {value}" for name, value in given.items())
    found: list[Row] = lake.spark.sql(f"CALL {CATALOG}.system.{procedure}({text})").collect()
    return found


def _timestamp(ts_ms: int) -> str:
    at = datetime.fromtimestamp(max(ts_ms, 0) / 1000, UTC)
    return f"TIMESTAMP '{at:%Y-%m-%d %H:%M:%S}'"
