"""Telemetry from a broker into bronze, by the ingest of a run."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from spark_analytics.contracts.runs import ClusterInput
from spark_analytics.contracts.telemetry import TELEMETRY_PARTITIONS, TELEMETRY_TOPIC
from spark_analytics.io.lake import Lake
from spark_analytics.io.tables import BRONZE
from spark_analytics.io.telemetry_source import ingest
from tests.bench.spark.cpu import tree_cpu_s
from tests.bench.spark.runs import TO_MS, config_of, session_of
from tests.bench.spark.table import line, note
from tests.bench.spark.telemetry import CLUSTER, TOPIC_PARTITIONS, Telemetry
from tests.local_cluster import local_cluster

PARTITIONS, GROUPS = 3_100, 2
WARM_MS, SPAN_MS = 60_000, 3_600_000


def prepare(path: Path) -> None:
    """The records, as lines: a key, a time, a value."""
    _written(path / "warm", TO_MS - SPAN_MS - WARM_MS, TO_MS - SPAN_MS)
    _written(path / "records", TO_MS - SPAN_MS, TO_MS)


def _written(file: Path, from_ms: int, to_ms: int) -> None:
    telemetry = Telemetry(PARTITIONS, GROUPS, seed=1)
    with file.open("w") as lines:
        for rows in (telemetry.of_topics(from_ms, to_ms), telemetry.of_groups(from_ms, to_ms)):
            for row in rows:
                plain = {name: _plain(value) for name, value in row.items() if "kafka" not in name}
                lines.write(json.dumps(plain, separators=(",", ":")) + "\n")


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def measure(path: Path, title: str, goal: str) -> None:
    """A first batch of a minute, in which Java warms up, then an hour."""
    with tempfile.TemporaryDirectory() as folder, local_cluster(Path(folder), brokers=1) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        topic = NewTopic(TELEMETRY_TOPIC, TELEMETRY_PARTITIONS, 1, config={"retention.ms": "-1"})
        admin.create_topics([topic])[TELEMETRY_TOPIC].result()
        config = config_of(path, TO_MS - SPAN_MS, TO_MS)
        lake = Lake.opened(session_of(config), config.data_uri)
        given = ClusterInput(cluster_id=CLUSTER, bootstrap_servers=cluster.bootstrap)
        for name, phase in (("warm", "first minute"), ("records", "ingest")):
            samples = _sent(cluster.bootstrap, path / name)
            brokers = {pid: _cpu_s(pid) for pid in [cluster.broker_pid(0)]}
            cpu_s, wall_s = tree_cpu_s(), time.monotonic()
            ingest(lake.spark, lake, given, {}, timeout_s=900)
            wall_s = time.monotonic() - wall_s
            spent_s = tree_cpu_s() - cpu_s
            of_brokers_s = sum(_cpu_s(pid) - before for pid, before in brokers.items())
            shown = goal if name == "records" else ""
            line(title if shown else "", samples, phase, spent_s, wall_s, shown)
            rate = f"{samples / wall_s:,.0f} samples/s, {samples / spent_s * 2:,.0f} with two cores"
            note(f"{rate} to itself; the broker took {of_brokers_s:.1f} CPU-s of these")
        files = lake.spark.table(f"{BRONZE.path}.files").count()
        note(f"{files} files in {TELEMETRY_PARTITIONS} tasks a batch")
        lake.spark.stop()


def _sent(bootstrap: str, file: Path) -> int:
    """As the collector sends them; the samples."""
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": "zstd"})
    samples = 0
    with file.open() as lines:
        for text in lines:
            row = json.loads(text)
            key = f"{row['kind']}|{row['topic']}|{row.get('group', '')}"
            while True:
                try:
                    producer.produce(TELEMETRY_TOPIC, text.strip(), key=key, timestamp=row["ts_ms"])
                    break
                except BufferError:
                    producer.poll(0.1)
            samples += TOPIC_PARTITIONS
    if producer.flush(120) > 0:
        sys.exit("the broker did not take the telemetry")
    return samples


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
