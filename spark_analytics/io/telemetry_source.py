"""Telemetry topic → bronze, exactly once.

Structured Streaming notes in its checkpoint which offsets batch N has before it runs, and that N is
done after. A run killed in between repeats N with the same offsets; Iceberg's sink commits the
batch's files together with its number, and leaves out one whose number it has: nothing is lost and
nothing counted twice.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from spark_analytics import quality
from spark_analytics.contracts.runs import ClusterInput
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from spark_analytics.io.tables import BRONZE
from spark_analytics.transforms import telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from spark_analytics.io.lake import Lake

# A cluster that does not answer must not eat the run's deadline. Overridden by the configuration.
BOUNDS: Mapping[str, str] = {
    "kafka.request.timeout.ms": "10000",
    "kafka.default.api.timeout.ms": "15000",
    "kafka.reconnect.backoff.max.ms": "2000",
    "fetchOffset.numRetries": "2",
    # A slice holds up to thousands of partitions: a batch must end within the time it is given, or
    # a backlog never would.
    "maxOffsetsPerTrigger": "20000",
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
    parsed = telemetry.parse(stream, quality.fault(cluster.cluster_id))
    query = (
        telemetry.to_bronze(parsed, cluster.cluster_id)
        # A stream is written by position, and a table that grew has its columns in another order.
        .select(*lake.read(BRONZE).columns)
        .writeStream.format("iceberg")
        .outputMode("append")
        .trigger(availableNow=True)
        .option("checkpointLocation", _checkpoint(lake, cluster))
        .toTable(BRONZE.path)
    )
    try:
        if not query.awaitTermination(max(1, int(timeout_s))):
            raise TimeoutError(f"telemetry was not read within {timeout_s:.0f} s")
    finally:
        query.stop()
    _forget_others(lake, cluster)


def _checkpoint(lake: Lake, cluster: ClusterInput) -> str:
    """Of each topic id its own: offsets of a topic say nothing of the one that is made after it.

    With the old one's, a run would wait without a word until the new topic has come as far.
    """
    return f"{lake.streams()}/{_checkpoint_name(cluster)}"


def _checkpoint_name(cluster: ClusterInput) -> str:
    topic_id = cluster.telemetry_topic_id
    return f"{cluster.cluster_id}.{topic_id}" if topic_id else cluster.cluster_id


def _forget_others(lake: Lake, cluster: ClusterInput) -> None:
    """A batch that a topic left unfinished is never finished when the topic is gone, and what
    waits for that, the expiry of snapshots, would wait for ever.
    """
    mine, streams = _checkpoint_name(cluster), lake.streams()
    for name in lake.children(streams):
        if name != mine and name.partition(".")[0] == cluster.cluster_id:
            lake.delete(f"{streams}/{name}")


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
