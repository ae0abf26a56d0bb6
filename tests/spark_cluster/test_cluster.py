"""`make test-spark-cluster`: a run on two workers leaves the bytes of a local one, and so it does
when a worker and its executor are killed in the middle of a stage."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.runs import ClusterInput, RunConfig, RunResult
from tests.bench.spark.telemetry import Telemetry, append
from tests.ports import HOST, free_row
from tests.spark_analytics.lakes import jars_dir, lake_in
from tests.spark_cluster.standalone import StandaloneCluster

pytestmark = pytest.mark.spark_cluster
TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
FROM_MS = TO_MS - 600_000
RUN_S = 240.0


@pytest.fixture(scope="module")
def lakes(spark, tmp_path_factory) -> dict[str, Path]:
    """Lakes of the same bronze, one for each run: a run leaves its silver in its own."""
    root = tmp_path_factory.mktemp("lakes")
    start_ms = FROM_MS - 1_800_000
    telemetry = Telemetry(300, 2, seed=7, cluster_id="kc_c")
    telemetry.write(root / "telemetry", start_ms, TO_MS, groups_from_ms=start_ms)
    paths = {name: root / name for name in ("local", "whole", "killed")}
    for path in paths.values():
        append(lake_in(spark, path), root / "telemetry")
    return paths


@pytest.fixture(scope="module")
def local_gold(lakes, tmp_path_factory) -> dict[str, bytes]:
    work = tmp_path_factory.mktemp("work")
    run = start(lakes["local"], work, "local[2]", ui_port=None)
    finish(run, work)
    return gold(work)


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    with StandaloneCluster(folder) as started:
        yield started


def start(lake: Path, work: Path, master: str, *, ui_port: int | None) -> subprocess.Popen[bytes]:
    conf = {"spark.driver.host": HOST, "spark.driver.bindAddress": HOST}
    if ui_port is not None:
        conf |= {
            "spark.ui.enabled": "true",
            "spark.ui.port": str(ui_port),
            "spark.executor.memory": "768m",
            "spark.cores.max": "2",
            # A stage of several tasks, so that there is a middle.
            "spark.sql.shuffle.partitions": "8",
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
        }
    config = RunConfig(
        run_id="r1",
        master=master,
        data_uri=lake.as_uri(),
        work_dir=str(work),
        from_ts_ms=FROM_MS,
        to_ts_ms=TO_MS,
        deadline_s=RUN_S,
        jars_dir=str(jars_dir()),
        clusters=(
            ClusterInput(cluster_id="kc_c", bootstrap_servers="-", offsets_end={"0": 10**9}),
        ),
        spark_conf=conf,
    )
    path = work / "config.json"
    path.write_text(config.to_json())
    with (work / "run.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "spark_analytics", "run", "--config", str(path)],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def finish(run: subprocess.Popen[bytes], work: Path) -> None:
    try:
        run.wait(RUN_S)
    finally:
        run.kill()
    result = RunResult.from_json((work / "result.json").read_text())
    assert result.ok, (result.error, result.clusters)
    assert [cluster.error for cluster in result.clusters] == [None]
    assert min(result.rows.values()) > 0


def gold(work: Path) -> dict[str, bytes]:
    return {table: (work / f"{table}.jsonl").read_bytes() for table in GOLD_TABLES}


def until_mid_stage(ui_port: int) -> dict[str, int]:
    """The first stage that is seen with tasks of it done and others under way."""
    end_s = time.monotonic() + RUN_S
    while time.monotonic() < end_s:
        for stage in active_stages(ui_port):
            if stage["numCompleteTasks"] > 0 and stage["numActiveTasks"] > 0:
                return stage
        time.sleep(0.05)
    raise TimeoutError("no stage was seen in its middle")


def active_stages(ui_port: int) -> list[dict[str, int]]:
    root = f"http://{HOST}:{ui_port}/api/v1/applications"
    try:
        with urllib.request.urlopen(root, timeout=5) as answer:
            applications = json.load(answer)
        if not applications:
            return []
        url = f"{root}/{applications[0]['id']}/stages?status=active"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except (OSError, json.JSONDecodeError):
        return []  # The driver is starting, or is done.


def test_a_cluster_leaves_the_bytes_of_one_machine(lakes, local_gold, cluster, tmp_path):
    run = start(lakes["whole"], tmp_path, cluster.url, ui_port=free_row(1))
    finish(run, tmp_path)
    assert gold(tmp_path) == local_gold


def test_a_worker_that_dies_mid_stage_changes_nothing(lakes, local_gold, cluster, tmp_path):
    ui_port = free_row(1)
    run = start(lakes["killed"], tmp_path, cluster.url, ui_port=ui_port)
    try:
        stage = until_mid_stage(ui_port)
        cluster.kill_worker()
        print(
            f"killed a worker of two with {stage['numCompleteTasks']} of {stage['numTasks']} tasks"
            f" done and {stage['numActiveTasks']} under way"
        )
    finally:
        finish(run, tmp_path)
    assert "Lost executor" in (tmp_path / "run.log").read_text()
    assert gold(tmp_path) == local_gold
