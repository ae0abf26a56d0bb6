"""Bronze → this run's silver: snapshots and log-end knots, each written anew under the run's id."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from spark_analytics.io import lake as lakes
from spark_analytics.transforms.knots import log_end_knots
from spark_analytics.transforms.snapshots import group_snapshots, topic_snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from spark_analytics.contracts import ClusterInput, RunConfig
    from spark_analytics.io.lake import Lake

FILES_MAX = 4


def build_silver(lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]) -> None:
    """Topics and knots as far back as knots are wanted, groups as far back as trends look."""
    rules = config.rules
    knots_from_ms = config.from_ts_ms - rules.knots_lookback_s * 1000
    trend_back_s = max(rules.trend_s, rules.quiet_s) * 2
    groups_from_ms = config.from_ts_ms - trend_back_s * 1000
    bronze_topics = _bronze(lake, lakes.TOPIC_SLICE, clusters, knots_from_ms, config.to_ts_ms)
    bronze_groups = _bronze(lake, lakes.GROUP_SLICE, clusters, groups_from_ms, config.to_ts_ms)
    topics = _written(
        lake, config, "topic_snapshot", topic_snapshots(bronze_topics, rules.window_s)
    )
    _written(lake, config, "group_snapshot", group_snapshots(bronze_groups, rules.window_s))
    _written(lake, config, "log_end_knot", log_end_knots(topics))


def read_silver(lake: Lake, config: RunConfig, table: str) -> DataFrame:
    path = lake.silver(table, config.run_id)
    return lake.spark.read.schema(lakes.SILVER[table]).parquet(path)


def _written(lake: Lake, config: RunConfig, table: str, rows: DataFrame) -> DataFrame:
    """Through the file and back: what follows starts from what is stored."""
    rows.coalesce(FILES_MAX).write.mode("overwrite").parquet(lake.silver(table, config.run_id))
    return read_silver(lake, config, table)


def _bronze(
    lake: Lake, table: str, clusters: Sequence[ClusterInput], from_ms: int, to_ms: int
) -> DataFrame:
    ids = [cluster.cluster_id for cluster in clusters]
    rows = lake.read_bronze(table, ids, from_ms, to_ms)
    return reduce(lakes.within_offsets, clusters, rows)
