"""Bronze → this run's silver: snapshots, rewritten under the run's id."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC
from spark_analytics.io import lake as lakes
from spark_analytics.jobs.ranges import start_ms
from spark_analytics.transforms.snapshots import group_snapshots, topic_snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from spark_analytics.contracts.runs import ClusterInput, RunConfig
    from spark_analytics.io.lake import Lake

FILES_MAX = 4


def read_bronze(lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]) -> DataFrame:
    """What a run may see of bronze; listed once, for its folders are many."""
    from_ms = config.from_ts_ms - config.rules.offset_samples_lookback_s * 1000
    ids = [cluster.cluster_id for cluster in clusters]
    rows = lake.read_bronze(ids, from_ms, config.to_ts_ms)
    return reduce(lakes.within_offsets, clusters, rows)


def build_silver(lake: Lake, config: RunConfig, bronze: DataFrame) -> None:
    """Of each cluster topics as far back as offset samples are wanted, groups as trends look."""
    rules = config.rules
    from_ms = start_ms(config)
    samples_from_ms = from_ms - rules.offset_samples_lookback_s * 1000
    trend_back_s = max(rules.trend_s, rules.quiet_s) * 2
    groups_from_ms = from_ms - trend_back_s * 1000
    topics = lakes.sampled(bronze, KIND_TOPIC, samples_from_ms, config.to_ts_ms)
    groups = lakes.sampled(bronze, KIND_GROUP, groups_from_ms, config.to_ts_ms)
    _write(lake, config, "topic_snapshot", topic_snapshots(topics, rules.window_s))
    _write(lake, config, "group_snapshot", group_snapshots(groups, rules.window_s))


def read_silver(lake: Lake, config: RunConfig, table: str) -> DataFrame:
    path = lake.silver(table, config.run_id)
    return lake.spark.read.schema(lakes.SILVER[table]).parquet(path)


def _write(lake: Lake, config: RunConfig, table: str, rows: DataFrame) -> None:
    """Through the file: what follows starts from what is stored."""
    rows.coalesce(FILES_MAX).write.mode("overwrite").parquet(lake.silver(table, config.run_id))
