"""What a run took in of bronze, by cluster: counts, and the offsets that would bound a re-run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.runs import ClusterResult
from spark_analytics.transforms.telemetry import REJECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from spark_analytics.contracts.runs import ClusterInput


def intake(bronze: DataFrame, clusters: Sequence[ClusterInput]) -> dict[str, ClusterResult]:
    """Records in these rows, accepted and rejected, and the end of each telemetry partition."""
    per_partition = (
        bronze.groupBy("cluster", "kafka_partition")
        .agg(
            (F.max("kafka_offset") + 1).alias("offset_end"),
            F.count(F.lit(1)).alias("records"),
            F.count_if(F.col("part") == REJECTED).alias("rejected"),
        )
        .collect()
    )
    found = {}
    for cluster_id in (cluster.cluster_id for cluster in clusters):
        mine = [row for row in per_partition if row["cluster"] == cluster_id]
        found[cluster_id] = ClusterResult(
            cluster_id=cluster_id,
            offsets_end={str(row["kafka_partition"]): row["offset_end"] for row in mine},
            records_in=sum(row["records"] - row["rejected"] for row in mine),
            records_rejected=sum(row["rejected"] for row in mine),
        )
    return found
