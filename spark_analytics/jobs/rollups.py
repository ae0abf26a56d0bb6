"""Silver → rollups of whole hours or days, on the run's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_analytics.contracts.gold import (
    CLUSTER_ROLLUP,
    GROUP_ROLLUP,
    PARTITION_ROLLUP,
    TOPIC_ROLLUP,
    GoldTable,
)
from spark_analytics.contracts.runs import PERIOD_OF_JOB
from spark_analytics.contracts.telemetry import KIND_TOPIC
from spark_analytics.io import run_files
from spark_analytics.transforms.cluster_rollup import cluster_rollup
from spark_analytics.transforms.group_rollup import group_rollup
from spark_analytics.transforms.judging import lags
from spark_analytics.transforms.partition_rollup import partition_rollup
from spark_analytics.transforms.periods import Periods
from spark_analytics.transforms.snapshots import by_partition
from spark_analytics.transforms.topic_rollup import topic_partitions, topic_rollup

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from spark_analytics.contracts.runs import RunConfig
    from spark_analytics.jobs.silver import Silver


def rollup_frames(
    topics: DataFrame, groups: DataFrame, periods: Periods
) -> dict[GoldTable, DataFrame]:
    """Each rollup of these slices. They reach back before the periods: topics as far as offset
    samples are wanted, groups to the sample before the first.
    """
    stands = lags(topics, groups, periods.rules).persist()
    before_ms = periods.from_ms - periods.rules.offset_samples_gap_max_s * 1000
    near = topics.filter(topics["window_ms"] >= before_ms - periods.rules.window_s * 1000)
    near = by_partition(near, KIND_TOPIC)
    each = topic_partitions(near, periods).persist()
    of_topics = topic_rollup(near, each, periods).persist()
    of_groups = group_rollup(stands, periods).persist()
    return {
        GROUP_ROLLUP: of_groups,
        TOPIC_ROLLUP: of_topics,
        CLUSTER_ROLLUP: cluster_rollup(near, stands, of_topics, of_groups, periods),
        PARTITION_ROLLUP: partition_rollup(each, periods),
    }


def write_rollups(
    silver: Silver, config: RunConfig, *, on_table: Callable[[int, str], None]
) -> dict[str, int]:
    """Write the rollups of the whole periods of [from, to); rows by table."""
    periods = Periods(
        period_s=PERIOD_OF_JOB[config.job],
        from_ms=config.from_ts_ms,
        to_ms=config.to_ts_ms,
        rules=config.rules,
    )
    frames = rollup_frames(silver.topics, silver.groups, periods)
    counts = {}
    try:
        for done, (table, rows) in enumerate(frames.items()):
            on_table(done, table.name)
            # Ordered, so that the same input gives the same bytes.
            ordered = rows.coalesce(1).sortWithinPartitions(*table.key)
            counts[table.name] = run_files.write_rows(
                config.work_dir, table.name, (row.asDict() for row in ordered.toLocalIterator())
            )
    finally:
        # A session may compute many clusters, each by itself.
        silver.topics.sparkSession.catalog.clearCache()
    return counts
