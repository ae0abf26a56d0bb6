"""Telemetry topic → bronze, exactly once.

Structured Streaming notes in its checkpoint which offsets batch N has before it runs, and that N is
done after. A run killed in between repeats N with the same offsets, and N's folder is written by
overwriting: nothing is lost and nothing counted twice.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from spark_analytics import quality
from spark_analytics.contracts.runs import ClusterInput
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from spark_analytics.transforms import telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping

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


CONNECT_TIMEOUT_S = 3.0


def ingest(
    spark: SparkSession,
    lake: Lake,
    cluster: ClusterInput,
    secrets: Mapping[str, str],
    *,
    timeout_s: float,
) -> None:
    """Bring everything that the topic holds now into bronze.

    Raises:
        ConnectionError: no broker accepts a connection.
        pyspark.errors.PySparkException: the brokers could not be read.
        TimeoutError: not done within `timeout_s`; what was written stays and is continued.
    """

    def write(batch: DataFrame, batch_id: int) -> None:
        _write_batch(lake, cluster.cluster_id, batch, batch_id)

    _require_a_listener(cluster)
    options = {**BOUNDS, **cluster.kafka_options, **secrets}
    stream = (
        spark.readStream.format("kafka")
        .options(**options)
        .option("kafka.bootstrap.servers", cluster.bootstrap_servers)
        .option("subscribe", TELEMETRY_TOPIC)
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


def _require_a_listener(cluster: ClusterInput) -> None:
    """A cluster that is down is seen at once, not after the connector's retries."""
    for server in cluster.bootstrap_servers.split(","):
        host, _, port = server.strip().rpartition(":")
        host = host.strip("[]")
        for address in (cluster.hosts or {}).get(host, (host,)):
            with contextlib.suppress(OSError, ValueError):
                socket.create_connection((address, int(port)), timeout=CONNECT_TIMEOUT_S).close()
                return
    raise ConnectionError(f"no broker accepts a connection at {cluster.bootstrap_servers}")


def _write_batch(lake: Lake, cluster_id: str, batch: DataFrame, batch_id: int) -> None:
    # One write, one job: the parts differ in a folder's name, not in their columns.
    rows = telemetry.to_bronze(telemetry.parse(batch, quality.fault(cluster_id)))
    path = lake.bronze_batch(cluster_id, batch_id)
    rows.coalesce(1).write.mode("overwrite").partitionBy("part", "dt").parquet(path)
