"""What the formulas read: slices of each cluster, as far back as they look.

From the silver tables; of a re-run that is bounded by offsets, from bronze below the bounds. Both
give the same rows, for silver holds what bronze gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC, SLICE_ARRAYS
from spark_analytics.io import lake as lakes
from spark_analytics.io.tables import BRONZE, SILVER_GROUP, SILVER_TOPIC
from spark_analytics.jobs.ranges import start_ms
from spark_analytics.transforms.snapshots import group_slices, topic_slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from spark_analytics.contracts.runs import ClusterInput, RunConfig
    from spark_analytics.io.lake import Lake
    from spark_analytics.io.tables import Table


_OLD_ARRAYS = ("partition", "leader_epoch", "log_end_offset")
"""Of topics further back than trends look no more is asked than when a log had which end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silver:
    """Slices: of `topics` as far back as offset samples are wanted, of `groups` as trends look."""

    topics: DataFrame
    groups: DataFrame


def is_bounded(config: RunConfig, cluster: ClusterInput) -> bool:
    """Whether a cluster's snapshots come from bronze: silver has one width of windows, and no
    bounds.
    """
    return cluster.offsets_end is not None or config.rules.window_s != Rules().window_s


def topics_back_ms(rules: Rules) -> int:
    """How far before a range its topic slices begin."""
    return rules.offset_samples_lookback_s * 1000


def groups_back_ms(rules: Rules) -> int:
    """How far before a range its group slices begin; topics are whole as far back as that."""
    looks_s = max(rules.trend_s, rules.quiet_s, rules.offset_samples_gap_max_s)
    return looks_s * 2 * 1000


def read_silver(lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]) -> Silver:
    """The slices of these clusters that a run's formulas want."""
    bounded = [cluster for cluster in clusters if is_bounded(config, cluster)]
    others = [cluster.cluster_id for cluster in clusters if cluster not in bounded]
    rules = config.rules
    topics = _stored(lake, config, SILVER_TOPIC, others, topics_back_ms(rules))
    groups = _stored(lake, config, SILVER_GROUP, others, groups_back_ms(rules))
    if bounded:
        bronze = bounded_bronze(lake, config, bounded)
        of_topics = _slices(bronze, config, KIND_TOPIC, topics_back_ms(rules))
        of_groups = _slices(bronze, config, KIND_GROUP, groups_back_ms(rules))
        topics = topics.unionByName(topic_slices(of_topics, rules.window_s))
        groups = groups.unionByName(group_slices(of_groups, rules.window_s))
    topics = topics.drop("kafka_offset")
    recent = F.col("ts_ms") >= start_ms(config) - groups_back_ms(rules)
    spared = [name for name in SLICE_ARRAYS[KIND_TOPIC] if name not in _OLD_ARRAYS]
    old = topics.filter(~recent).drop(*spared)
    whole = topics.filter(recent).unionByName(old, allowMissingColumns=True)
    return Silver(topics=whole, groups=groups.drop("kafka_offset"))


def bounded_bronze(lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]) -> DataFrame:
    """What a bounded re-run may see of bronze."""
    ids = [cluster.cluster_id for cluster in clusters]
    rows = lake.read(BRONZE).filter(F.col("cluster").isin(ids) & bronze_days(config))
    return reduce(lakes.within_offsets, clusters, rows)


def bronze_days(config: RunConfig) -> Column:
    """The part of bronze in which anything of the run's range and look-back can lie."""
    first_ms = config.from_ts_ms - topics_back_ms(config.rules)
    at = F.col("sampled_at")
    return (at >= lakes.at(first_ms)) & (at < lakes.at(config.to_ts_ms))


def _slices(bronze: DataFrame, config: RunConfig, kind: str, back_ms: int) -> DataFrame:
    return lakes.sampled(bronze, kind, start_ms(config) - back_ms, config.to_ts_ms)


def _stored(
    lake: Lake, config: RunConfig, table: Table, cluster_ids: Sequence[str], back_ms: int
) -> DataFrame:
    window_ms = config.rules.window_s * 1000
    at, sampled = F.col("window_at"), F.col("ts_ms")
    hours = (at >= lakes.at(config.from_ts_ms - back_ms - window_ms)) & (
        at < lakes.at(config.to_ts_ms)
    )
    exactly = (sampled >= start_ms(config) - back_ms) & (sampled < config.to_ts_ms)
    rows = lake.read(table).filter(F.col("cluster_id").isin(list(cluster_ids)) & hours & exactly)
    return rows.drop("window_at")
