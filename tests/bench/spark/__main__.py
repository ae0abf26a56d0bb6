"""`make bench-spark`: CPU and wall seconds of a run's silver and gold, Spark's start-up included.

The ingest is not in it: bronze is written by the benchmark. Each figure is a process of its own,
as each run is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spark_analytics import session
from spark_analytics.contracts.runs import ClusterInput, RunConfig
from spark_analytics.io.lake import Lake
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.silver import build_silver, read_bronze
from tests.bench.spark.cpu import tree_cpu_s
from tests.bench.spark.telemetry import CLUSTER, Telemetry

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
    parser.add_argument("--lake", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lake:
        _measure(FIGURES[given.only], Path(given.lake))
        return
    print(f"{'figure':<32}{'samples':>12}{'phase':>10}{'CPU-s':>8}{'wall s':>8}  goal")
    for name in given.only.split(","):
        with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder:
            command = [sys.executable, "-m", "tests.bench.spark", "--only", name, "--lake", folder]
            subprocess.run(command, check=True)


def _measure(figure: Figure, lake_path: Path) -> None:
    from_ms = TO_MS - figure.range_s * 1000
    telemetry = Telemetry(figure.partitions, figure.groups, seed=SEED)
    samples = telemetry.write(
        lake_path / "bronze",
        from_ms - figure.history_s * 1000,
        TO_MS,
        groups_from_ms=from_ms - 1_200_000,
    )
    config = RunConfig(
        run_id="bench",
        master="local[2]",
        data_uri=lake_path.as_uri(),
        work_dir=str(lake_path),
        from_ts_ms=from_ms,
        to_ts_ms=TO_MS,
        deadline_s=3_600,
        clusters=(ClusterInput(cluster_id=CLUSTER, bootstrap_servers="-"),),
    )
    head = f"{figure.title:<32}{samples:>12,}"
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    with _timed(" " * 44, "session"):
        spark = session.start(config, [])
    lake = Lake(spark, config.data_uri)
    with _timed(" " * 44, "silver"):
        build_silver(lake, config, read_bronze(lake, config, config.clusters))
    with _timed(" " * 44, "gold"):
        rows = write_gold(lake, config, on_table=lambda _done, _name: None)
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
