"""What a run took in, by cluster: counts, and the offsets that would bound a re-run."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts import ClusterResult
from spark_analytics.io import lake as lakes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from spark_analytics.contracts import ClusterInput, RunConfig
    from spark_analytics.io.lake import Lake

_COORDINATES = ("cluster", "kafka_partition", "kafka_offset")


def intake(
    lake: Lake, config: RunConfig, clusters: Sequence[ClusterInput]
) -> dict[str, ClusterResult]:
    """Records of the range, believed and rejected, and the end of each telemetry partition."""
    from_ms = config.from_ts_ms - config.rules.knots_lookback_s * 1000
    ids = [cluster.cluster_id for cluster in clusters]

    def read(table: str, *, is_rejected: int) -> DataFrame:
        rows = lake.read_bronze(table, ids, from_ms, config.to_ts_ms)
        return (
            reduce(lakes.within_offsets, clusters, rows)
            .select(*_COORDINATES)
            .withColumn("rejected", F.lit(is_rejected))
        )

    per_partition = (
        read(lakes.TOPIC_SLICE, is_rejected=0)
        .unionByName(read(lakes.GROUP_SLICE, is_rejected=0))
        .unionByName(read(lakes.REJECTED, is_rejected=1))
        .groupBy("cluster", "kafka_partition")
        .agg(
            (F.max("kafka_offset") + 1).alias("offset_end"),
            F.count(F.lit(1)).alias("records"),
            F.sum("rejected").alias("rejected"),
        )
        .collect()
    )
    found = {}
    for cluster_id in ids:
        mine = [row for row in per_partition if row["cluster"] == cluster_id]
        found[cluster_id] = ClusterResult(
            cluster_id=cluster_id,
            offsets_end={str(row["kafka_partition"]): row["offset_end"] for row in mine},
            records_in=sum(row["records"] - row["rejected"] for row in mine),
            records_rejected=sum(row["rejected"] for row in mine),
        )
    return found
