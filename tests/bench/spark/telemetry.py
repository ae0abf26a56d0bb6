"""Bronze of a synthetic cluster: topics that grow, groups that read them, a slice every 10 s."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import functions as F

from spark_analytics import schemas
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S
from spark_analytics.io.tables import BRONZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_analytics.io.lake import Lake

CLUSTER = "kc_bench"
TOPIC_PARTITIONS = 100
STEP_MS = int(SAMPLE_INTERVAL_S * 1000)
BATCH_S = 300
"""Made at once."""


def append(lake: Lake, files: Path) -> None:
    """What `Telemetry.write` left → bronze, in one commit."""
    rows = (
        lake.spark.read.schema(schemas.BRONZE)
        .parquet(str(files))
        .withColumn("cluster", F.col("cluster_id"))
        .withColumn("part", F.col("kind"))
        .withColumn("sampled_at", F.timestamp_millis("ts_ms"))
    )
    rows.writeTo(BRONZE.path).append()


class Telemetry:
    """`partitions` in topics of 100, each read by `groups` groups; every partition has its pace."""

    def __init__(
        self, partitions: int, groups: int, *, seed: int, cluster_id: str = CLUSTER
    ) -> None:
        self._cluster_id = cluster_id
        dice = np.random.default_rng(seed)
        self._topics = partitions // TOPIC_PARTITIONS
        self._groups = groups
        self._per_s = dice.gamma(0.5, 40.0, (self._topics, TOPIC_PARTITIONS))
        self._behind_s = dice.choice([1.0, 30.0, 3_000.0], (groups, self._topics))
        self._offset = 0

    def write(self, root: Path, from_ms: int, to_ms: int, *, groups_from_ms: int) -> int:
        """Files in `root`, topics of [from, to), groups from `groups_from_ms`; the samples."""
        root.mkdir(parents=True, exist_ok=True)
        samples = 0
        for start_ms in range(from_ms, to_ms, BATCH_S * 1000):
            end_ms = min(start_ms + BATCH_S * 1000, to_ms)
            name = f"{self._cluster_id}-{start_ms}"
            samples += _part(root / f"{name}-topic.parquet", self.of_topics(start_ms, end_ms))
            if end_ms > groups_from_ms:
                rows = self.of_groups(max(start_ms, groups_from_ms), end_ms)
                samples += _part(root / f"{name}-group.parquet", rows)
        return samples

    def of_topics(self, from_ms: int, to_ms: int) -> Iterator[dict[str, Any]]:
        for at_ms in range(from_ms, to_ms, STEP_MS):
            for topic in range(self._topics):
                ends = self._ends(topic, at_ms)
                yield {
                    **self._slice("topic", topic, at_ms, ends),
                    "retention_ms": 86_400_000,
                    "retention_bytes": -1,
                    "leader_epoch": np.zeros(TOPIC_PARTITIONS, np.int32),
                    "size_bytes": ends * 100,
                    "oldest_ts_ms": np.full(TOPIC_PARTITIONS, at_ms - 80_000_000),
                }

    def of_groups(self, from_ms: int, to_ms: int) -> Iterator[dict[str, Any]]:
        for at_ms in range(from_ms, to_ms, STEP_MS):
            for group in range(self._groups):
                for topic in range(self._topics):
                    read_ms = at_ms - int(self._behind_s[group, topic] * 1000)
                    yield {
                        **self._slice("group", topic, at_ms, self._ends(topic, at_ms)),
                        "group": f"g{group}",
                        "state": "Stable",
                        "members": 4,
                        "committed_offset": self._ends(topic, read_ms),
                    }

    def _slice(self, kind: str, topic: int, at_ms: int, ends: Any) -> dict[str, Any]:
        self._offset += 1
        return {
            "v": 1,
            "kind": kind,
            "ts_ms": at_ms,
            "cluster_id": self._cluster_id,
            "topic": f"t{topic}",
            "partition": np.arange(TOPIC_PARTITIONS, dtype=np.int32),
            "log_start_offset": np.zeros(TOPIC_PARTITIONS, np.int64),
            "log_end_offset": ends,
            "kafka_partition": 0,
            "kafka_offset": self._offset,
            "kafka_ts_ms": at_ms,
        }

    def _ends(self, topic: int, at_ms: int) -> Any:
        """A pace with a slow wave in it, never backwards."""
        seconds = (at_ms - _EPOCH_MS) / 1000
        grown = self._per_s[topic] * (seconds + 120 * np.sin(seconds / 300))
        return grown.astype(np.int64)


def _part(file: Path, rows: Iterator[dict[str, Any]]) -> int:
    found = list(rows)
    parquet.write_table(pa.Table.from_pylist(found, schema=_SCHEMA), file)
    return len(found) * TOPIC_PARTITIONS


_EPOCH_MS = 1_760_000_000_000 - 40 * 86_400_000
_LONGS, _INTS = pa.list_(pa.int64()), pa.list_(pa.int32())
_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int32()) for name in ("v", "members", "kafka_partition")),
        *(pa.field(name, pa.int64()) for name in ("ts_ms", "retention_ms", "retention_bytes")),
        *(pa.field(name, pa.int64()) for name in ("kafka_offset", "kafka_ts_ms")),
        *(pa.field(name, pa.string()) for name in ("kind", "cluster_id", "topic", "group")),
        *(pa.field(name, pa.string()) for name in ("state", "value", "fault")),
        *(pa.field(name, _INTS) for name in ("partition", "leader_epoch")),
        *(pa.field(name, _LONGS) for name in ("committed_offset", "log_start_offset")),
        *(pa.field(name, _LONGS) for name in ("log_end_offset", "size_bytes", "oldest_ts_ms")),
    ]
)
