"""A cluster that takes connections and answers nothing: a reason for itself, and rows for others."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import pytest

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.runs import ClusterInput, RunConfig
from spark_analytics.io.run_files import Progress
from spark_analytics.jobs import run as runs
from tests.bench.spark.telemetry import Telemetry, append
from tests.spark_analytics.lakes import lake_in

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
DEADLINE_S = 160
"""An eighth of it is what a cluster may take to be read."""


@pytest.fixture
def silent():
    """`host:port` of a listener that reads whatever comes."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections = []

    def accept():
        while True:
            try:
                connections.append(listener.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}", connections
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for connection in connections:
        connection.close()
    thread.join(10)


def test_a_cluster_that_never_answers_has_its_time_and_no_more(spark, silent, tmp_path):
    address, connections = silent
    lake = lake_in(spark, tmp_path / "lake")
    files = tmp_path / "old"
    Telemetry(100, 1, seed=1, cluster_id="kc_a").write(
        files, TO_MS - 300_000, TO_MS, groups_from_ms=TO_MS - 300_000
    )
    for kind in ("topic", "group"):
        (files / kind).mkdir()
        for file in files.glob(f"*-{kind}.parquet"):
            file.rename(files / kind / file.name)
        append(lake, files / kind)
    work = tmp_path / "work"
    work.mkdir()
    config = RunConfig(
        run_id="r1",
        master="local[2]",
        data_uri=lake.uri,
        work_dir=str(work),
        from_ts_ms=TO_MS - 120_000,
        to_ts_ms=TO_MS,
        deadline_s=DEADLINE_S,
        clusters=(
            ClusterInput(cluster_id="kc_silent", bootstrap_servers=address),
            # What is bounded is in the lake already.
            ClusterInput(cluster_id="kc_a", bootstrap_servers="-", offsets_end={"0": 10**9}),
        ),
    )
    began_s = time.monotonic()
    ((cluster_id, error), _) = sorted(runs._ingested(lake, config, {}), reverse=True)  # noqa: SLF001 - how long that part takes
    took_s = time.monotonic() - began_s
    print(f"{took_s:.1f} s: {error}")
    assert (cluster_id, error) == ("kc_silent", "telemetry was not read within 20 s")
    assert len(connections) > 1, "it was asked"
    assert took_s < DEADLINE_S / 2

    result = runs.run_in(lake.spark, config, {}, Progress(str(work)))
    silent_result, other = result.clusters
    assert (result.ok, silent_result.error, other.error) == (True, error, None)
    for table in GOLD_TABLES:
        rows = [json.loads(line) for line in Path(work / f"{table}.jsonl").read_text().splitlines()]
        assert {row["cluster_id"] for row in rows} == {"kc_a"}
