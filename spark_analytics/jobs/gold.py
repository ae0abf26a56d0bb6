"""Silver → gold rows on the run's files, for the control plane to load in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.gold import GROUP_EXPIRY, GROUP_LAG, TOPIC_RETENTION
from spark_analytics.io import run_files
from spark_analytics.jobs.ranges import start_ms
from spark_analytics.transforms.group_expiry import group_expiry
from spark_analytics.transforms.group_lag import group_lag
from spark_analytics.transforms.positions import positions
from spark_analytics.transforms.reach import history
from spark_analytics.transforms.topic_retention import topic_retention

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.gold import GoldTable
    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.jobs.silver import Silver


def write_gold(
    silver: Silver, config: RunConfig, *, on_table: Callable[[int, str], None]
) -> dict[str, int]:
    """Write every gold table of [from, to); rows by table."""
    topics, groups = silver.recent_topics, silver.groups
    from_ms = start_ms(config)
    known = history(silver.topics, groups)
    stands = positions(groups, topics, known, config.rules, from_ms=from_ms).persist()
    recent = stands.filter(F.col("window_ms") >= from_ms)
    tables = {
        GROUP_LAG: group_lag(stands, config.rules, from_ms=from_ms),
        TOPIC_RETENTION: topic_retention(topics.filter(F.col("window_ms") >= from_ms)),
        GROUP_EXPIRY: group_expiry(recent, config.rules),
    }
    counts = {}
    try:
        for done, (table, rows) in enumerate(tables.items()):
            on_table(done, table.name)
            counts[table.name] = run_files.write_rows(
                config.work_dir, table.name, _rows(rows, table, from_ms, config.to_ts_ms)
            )
    finally:
        stands.unpersist()
        known.unpersist()
    return counts


def _rows(
    rows: DataFrame, table: GoldTable, from_ms: Column, to_ms: int
) -> Iterator[Mapping[str, Any]]:
    in_range = (F.col("ts_ms") >= from_ms) & (F.col("ts_ms") < to_ms)
    # Ordered, so that the same input gives the same bytes; in one task, for one short job.
    chosen = rows.filter(in_range).select(*table.column_names)
    for row in chosen.coalesce(1).sortWithinPartitions(*table.key).toLocalIterator():
        yield row.asDict()
