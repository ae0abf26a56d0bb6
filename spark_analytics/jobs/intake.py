"""What a run took in of bronze, by cluster: counts, and the offsets that would bound a re-run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that every PySpark reader knows

from spark_analytics.contracts.runs import ClusterResult
from spark_analytics.transforms.telemetry import REJECTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import Column, DataFrame, Row

    from spark_analytics.contracts.runs import ClusterInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What was taken in, by cluster. `hours` are those in which an accepted record was sampled, by
    the id of the cluster; nobody's that has none. `has_chunks`: not every record is a slice.
    """

    results: dict[str, ClusterResult]
    hours: dict[str, set[datetime]]
    has_chunks: bool


def intake(
    bronze: DataFrame,
    clusters: Sequence[ClusterInput],
    ends: Mapping[str, Mapping[str, int]] | None = None,
) -> Intake:
    """Records in these rows, accepted and rejected, and the end of each telemetry partition.

    With `ends`, of each cluster those that earlier runs came to, also how many offsets after them
    have no record.
    """
    is_rejected = F.col("part") == REJECTED
    before = _ends_before(ends or {})
    per_partition = (
        bronze.withColumn("before", before)
        .groupBy("cluster", "kafka_partition")
        .agg(
            (F.max("kafka_offset") + 1).alias("offset_end"),
            F.count(F.lit(1)).alias("records"),
            F.count_if(is_rejected).alias("rejected"),
            F.max("before").alias("before"),
            F.min(F.when(_is_new(), F.col("kafka_offset"))).alias("first_new"),
            F.count_if(_is_new()).alias("new"),
            F.count_if(F.col("chunks") > 1).alias("chunked"),
            F.collect_set(
                F.when(~is_rejected, F.date_trunc("hour", F.timestamp_millis("ts_ms")))
            ).alias("hours"),
        )
        .collect()
    )
    found, hours = {}, {}
    for cluster_id in (cluster.cluster_id for cluster in clusters):
        mine = [row for row in per_partition if row["cluster"] == cluster_id]
        found[cluster_id] = ClusterResult(
            cluster_id=cluster_id,
            offsets_end={str(row["kafka_partition"]): row["offset_end"] for row in mine},
            records_in=sum(row["records"] - row["rejected"] for row in mine),
            records_rejected=sum(row["rejected"] for row in mine),
            records_skipped=sum(_skipped(row) for row in mine),
        )
        if mine_hours := {hour for row in mine for hour in row["hours"]}:
            hours[cluster_id] = mine_hours
    has_chunks = any(row["chunked"] for row in per_partition)
    return Intake(results=found, hours=hours, has_chunks=has_chunks)


def _ends_before(ends: Mapping[str, Mapping[str, int]]) -> Column:
    """The end that is known of a row's telemetry partition; NULL where none is."""
    known = {f"{c}/{p}": end for c, of_one in ends.items() for p, end in of_one.items()}
    if not known:
        return F.lit(None).cast("long")
    pairs = chain.from_iterable((F.lit(key), F.lit(end).cast("long")) for key, end in known.items())
    return F.try_element_at(
        F.create_map(*pairs), F.concat_ws("/", "cluster", F.col("kafka_partition").cast("string"))
    )


def _is_new() -> Column:
    return F.col("before").isNull() | (F.col("kafka_offset") >= F.col("before"))


def _skipped(row: Row) -> int:
    """Of a partition that is seen for the first time, the offsets before its first record are not
    missed: a topic that has been there for longer begins somewhere.
    """
    if not row["new"]:
        return 0
    begin = row["first_new"] if row["before"] is None else row["before"]
    return max(0, int(row["offset_end"] - begin - row["new"]))
