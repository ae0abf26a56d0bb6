"""Gold: each partition by the hour or day, packed: a row is some hundred of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics import schemas
from spark_analytics.contracts.gold import PARTITIONS_MAX, SHARD_PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_analytics.transforms.periods import Periods

_KEY = ("cluster_id", "topic", "period_ms")
_NUMBERS = ("bytes_in", "covered_ms", "start_offset", "end_offset", "bytes_last")


def partition_rollup(each: DataFrame, periods: Periods, *, most: int = PARTITIONS_MAX) -> DataFrame:
    """What `topic_partitions` makes → `schemas.PARTITION_ROLLUP`, of the busiest topics alone.

    It costs one aggregation of rows that are there already, for the topics' rollup: no sample is
    read again. `most` bounds the partitions of one cluster in one period.
    """
    shards = (
        each.withColumn("records_in", F.col("rose"))
        .withColumn("shard", F.floor(F.col("partition") / SHARD_PARTITIONS).cast("int"))
        .withColumn("bytes_in", F.col("rose_bytes"))
        .groupBy(*_KEY, "shard")
        .agg(
            F.max("sampled_ms").alias("sampled_ms"),
            F.max("samples").alias("samples"),
            F.count(F.lit(1)).cast("int").alias("partitions"),
            F.sort_array(F.collect_list(F.struct("partition", "records_in", *_NUMBERS))).alias(
                "all"
            ),
        )
    )
    packed = shards.withColumns(
        {name: _packed(name) for name in ("partition", "records_in", *_NUMBERS)}
    )
    kept = packed.join(_busiest(each, most), on=list(_KEY), how="left_semi")
    return periods.named(kept, schemas.PARTITION_ROLLUP.names)


def _packed(name: str) -> Column:
    """Numbers with commas between, empty where unknown: arrays have no type in every database."""
    texts = F.transform("all", lambda one: F.coalesce(one[name].cast("string"), F.lit("")))
    return F.concat_ws(",", texts)


def _busiest(each: DataFrame, most: int) -> DataFrame:
    """The topics of each cluster and period that fit, those that took most records first."""
    first = Window.partitionBy("cluster_id", "period_ms").orderBy(F.desc("came"), "topic")
    so_far = first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        each.groupBy(*_KEY)
        .agg(F.coalesce(F.sum("rose"), F.lit(0)).alias("came"), F.count(F.lit(1)).alias("count"))
        .withColumn("so_far", F.sum("count").over(so_far))
        .filter(F.col("so_far") <= most)
        .select(*_KEY)
    )
