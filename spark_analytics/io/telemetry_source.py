"""Telemetry topic → bronze, exactly once.

Structured Streaming notes in its checkpoint which offsets batch N has before it runs, and that N is
done after. A run killed in between repeats N with the same offsets, and N's folders are written by
overwriting: nothing is lost and nothing counted twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_analytics import contracts, quality
from spark_analytics.io import lake as lakes
from spark_analytics.transforms import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from spark_analytics.io.lake import Lake

# A cluster that does not answer must not eat the run's deadline. Overridden by the configuration.
BOUNDS: Mapping[str, str] = {
    "kafka.request.timeout.ms": "10000",
    "kafka.default.api.timeout.ms": "15000",
    "kafka.reconnect.backoff.max.ms": "2000",
    "fetchOffset.numRetries": "2",
    "maxOffsetsPerTrigger": "200000",
}


def ingest(
    spark: SparkSession,
    lake: Lake,
    cluster: contracts.ClusterInput,
    secrets: Mapping[str, str],
    *,
    on_batch: Callable[[int], None],
    timeout_s: float,
) -> None:
    """Bring everything that the topic holds now into bronze.

    Raises:
        pyspark.errors.PySparkException: the brokers could not be read.
        TimeoutError: not done within `timeout_s`; what was written stays and is continued.
    """

    def write(batch: DataFrame, batch_id: int) -> None:
        _write_batch(lake, cluster.cluster_id, batch, batch_id)
        on_batch(batch_id)

    options = {**BOUNDS, **cluster.kafka_options, **secrets}
    stream = (
        spark.readStream.format("kafka")
        .options(**options)
        .option("kafka.bootstrap.servers", cluster.bootstrap_servers)
        .option("subscribe", contracts.TELEMETRY_TOPIC)
        .option("startingOffsets", "earliest")
        # Telemetry that retention took before a run came is gone; the next sample is not.
        .option("failOnDataLoss", "false")
        .load()
    )
    query = (
        stream.writeStream.trigger(availableNow=True)
        .option("checkpointLocation", lake.checkpoint(cluster.cluster_id))
        .foreachBatch(write)
        .start()
    )
    try:
        if not query.awaitTermination(max(1, int(timeout_s))):
            raise TimeoutError(f"telemetry was not read within {timeout_s:.0f} s")
    finally:
        query.stop()


def _write_batch(lake: Lake, cluster_id: str, batch: DataFrame, batch_id: int) -> None:
    parsed = telemetry.parse(batch, quality.fault(cluster_id)).persist()
    try:
        tables = {
            lakes.TOPIC_SLICE: telemetry.believed(parsed, contracts.KIND_TOPIC),
            lakes.GROUP_SLICE: telemetry.believed(parsed, contracts.KIND_GROUP),
            lakes.REJECTED: telemetry.rejected(parsed),
        }
        for table, rows in tables.items():
            path = lake.bronze_batch(table, cluster_id, batch_id)
            rows.coalesce(1).write.mode("overwrite").partitionBy("dt").parquet(path)
    finally:
        parsed.unpersist()
