"""`make bench-spark`: CPU and wall seconds of a run's silver and gold, Spark's start-up included.

The ingest is not in it: bronze is written by the benchmark, and what came before the range is in
silver already, as it is for each run but the first. Each figure is a process of its own, as each
run is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spark_analytics import session
from spark_analytics.contracts.runs import ClusterInput, RunConfig
from spark_analytics.io.jars import jar_paths
from spark_analytics.io.lake import Lake
from spark_analytics.jobs.absorb import absorb
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.silver import read_silver
from tests.bench.spark.cpu import tree_cpu_s
from tests.bench.spark.telemetry import CLUSTER, Telemetry, append

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
SEED = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """Windows of the last `range_s` seconds, with topics sampled for `history_s` before them."""

    title: str
    range_s: int
    history_s: int
    goal: str
    partitions: int = 1_000
    groups: int = 2


FIGURES = {
    "run-5min": Figure("5 minutes, 24 h of history", 300, 24 * 3600, "≤ 25 CPU-s"),
    "run-5min-short": Figure("5 minutes, 30 min of history", 300, 1_800, "-"),
    "hour": Figure("an hour", 3_600, 1_800, "≤ 20 s"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.spark", description=__doc__)
    parser.add_argument("--only", default=",".join(FIGURES), help="figures, with commas between")
    parser.add_argument("--lake", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lake:
        (_prepare if given.prepare else _measure)(FIGURES[given.only], given.lake)
        return
    print(f"{'figure':<32}{'samples':>12}{'phase':>10}{'CPU-s':>8}{'wall s':>8}  goal")
    for name in given.only.split(","):
        with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder:
            command = [sys.executable, "-m", "tests.bench.spark", "--only", name, "--lake", folder]
            subprocess.run([*command, "--prepare"], check=True)
            subprocess.run(command, check=True)


def _prepare(figure: Figure, path: Path) -> None:
    """What is known before the range is in silver, the range itself in bronze."""
    from_ms = TO_MS - figure.range_s * 1000
    telemetry = Telemetry(figure.partitions, figure.groups, seed=SEED)
    begins_ms = from_ms - figure.history_s * 1000
    groups_ms = from_ms - 1_200_000
    samples = telemetry.write(path / "old", begins_ms, from_ms, groups_from_ms=groups_ms)
    samples += telemetry.write(path / "new", from_ms, TO_MS, groups_from_ms=from_ms)
    (path / "samples").write_text(str(samples))
    before = _config(path, from_ms - 30_000, from_ms, "spark.driver.memory=4g")
    lake = Lake.opened(_session(before), before.data_uri)
    append(lake, path / "old")
    absorb(lake, before, before.clusters)
    append(lake, path / "new")
    lake.spark.stop()


def _config(path: Path, from_ms: int, to_ms: int, *conf: str) -> RunConfig:
    return RunConfig(
        run_id="bench",
        master="local[2]",
        data_uri=path.as_uri(),
        work_dir=str(path),
        from_ts_ms=from_ms,
        to_ts_ms=to_ms,
        deadline_s=3_600,
        clusters=(ClusterInput(cluster_id=CLUSTER, bootstrap_servers="-"),),
        spark_conf=dict(pair.split("=", 1) for pair in conf),
    )


def _session(config: RunConfig) -> SparkSession:
    return session.start(config, jar_paths(Path(os.environ["PENSTOCK_SPARK_JARS_DIR"])))


def _measure(figure: Figure, path: Path) -> None:
    config = _config(path, TO_MS - figure.range_s * 1000, TO_MS)
    head = f"{figure.title:<32}{int((path / 'samples').read_text()):>12,}"
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    with _timed(" " * 44, "session"):
        spark = _session(config)
    with _timed(" " * 44, "silver"):
        lake = Lake.opened(spark, config.data_uri)
        absorb(lake, config, config.clusters)
    with _timed(" " * 44, "gold"):
        silver = read_silver(lake, config, config.clusters)
        rows = write_gold(silver, config, on_table=lambda _done, _name: None)
    _line(head, "all", tree_cpu_s() - cpu_s, time.monotonic() - wall_s, figure.goal)
    if min(rows.values()) == 0:
        raise SystemExit(f"a table is empty: {rows}")
    spark.stop()


@contextmanager
def _timed(head: str, phase: str) -> Iterator[None]:
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    yield
    _line(head, phase, tree_cpu_s() - cpu_s, time.monotonic() - wall_s)


def _line(head: str, phase: str, cpu_s: float, wall_s: float, goal: str = "") -> None:
    print(f"{head}{phase:>10}{cpu_s:>8.1f}{wall_s:>8.1f}  {goal}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
