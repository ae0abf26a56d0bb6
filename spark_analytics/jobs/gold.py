"""Silver → gold rows on the run's files, for the control plane to load in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.gold import GROUP_EXPIRY, GROUP_LAG, TOPIC_RETENTION
from spark_analytics.io import run_files
from spark_analytics.jobs.ranges import start_ms
from spark_analytics.transforms.judging import gold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from pyspark.sql import DataFrame

    from spark_analytics.contracts.gold import GoldTable
    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.jobs.silver import Silver


def write_gold(
    silver: Silver, config: RunConfig, *, on_table: Callable[[int, str], None]
) -> dict[str, int]:
    """Write every gold table of [from, to); rows by table."""
    found = gold(silver.topics, silver.groups, config.rules, from_ms=start_ms(config)).persist()
    counts = {}
    try:
        for done, table in enumerate((GROUP_LAG, TOPIC_RETENTION, GROUP_EXPIRY)):
            on_table(done, table.name)
            rows = _rows(found, table, config.to_ts_ms)
            counts[table.name] = run_files.write_rows(config.work_dir, table.name, rows)
    finally:
        found.unpersist()
    return counts


def _rows(found: DataFrame, table: GoldTable, to_ms: int) -> Iterator[Mapping[str, Any]]:
    rows = found.filter(F.col(table.name).isNotNull()).select(f"{table.name}.*")
    # Ordered, so that the same input gives the same bytes; in one task, for one short job.
    ordered = rows.filter(F.col("ts_ms") < to_ms).coalesce(1).sortWithinPartitions(*table.key)
    for row in ordered.toLocalIterator():
        yield row.asDict()
