"""Silver and gold of a run, over synthetic telemetry that is in bronze."""

from __future__ import annotations

import dataclasses
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spark_analytics import session
from spark_analytics.contracts.runs import ClusterInput, Job, RunConfig
from spark_analytics.io.jars import jar_paths
from spark_analytics.io.lake import Lake
from spark_analytics.io.tables import TABLES, TIDIED
from spark_analytics.jobs.absorb import absorb
from spark_analytics.jobs.gold import write_gold
from spark_analytics.jobs.rollups import write_rollups
from spark_analytics.jobs.silver import read_silver
from spark_analytics.jobs.tidy import tidy
from tests.bench.spark.cpu import peak_mib, tree_cpu_s
from tests.bench.spark.table import line, note, timed
from tests.bench.spark.telemetry import CLUSTER, Telemetry, append

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
SEED = 1
HOUR_MS = 3_600_000
RUNS_AN_HOUR = 12
CORES = 2
PARTITIONS, GROUPS = 1_000, 2


@dataclass(frozen=True, slots=True)
class Work:
    """Windows of the last `range_s` seconds, with topics sampled for `history_s` before them.

    `days`: silver reaches back so far, with one slice of each topic and group an hour, for what it
    costs that so many hours are known; `tidies`: what keeps the lake small is part of the run.
    """

    range_s: int
    history_s: int
    partitions: int = PARTITIONS
    groups: int = GROUPS
    days: int = 0
    tidies: bool = False


def prepare(work: Work, path: Path) -> None:
    """What is known before the range is in silver, the range itself in bronze."""
    from_ms = TO_MS - work.range_s * 1000
    telemetry = Telemetry(work.partitions, work.groups, seed=SEED)
    begins_ms = from_ms - work.history_s * 1000
    groups_ms = from_ms - 1_200_000
    samples = telemetry.write(path / "old", begins_ms, from_ms, groups_from_ms=groups_ms)
    samples += telemetry.write(path / "new", from_ms, TO_MS, groups_from_ms=from_ms)
    (path / "samples").write_text(str(samples))
    before = config_of(path, from_ms - 30_000, from_ms, "spark.driver.memory=4g")
    lake = Lake.opened(session_of(before), before.data_uri)
    if work.days:
        _thin_days(lake, work, path, begins_ms)
    append(lake, path / "old")
    absorb(lake, before, before.clusters)
    append(lake, path / "new")
    lake.spark.stop()


def _thin_days(lake: Lake, work: Work, path: Path, until_ms: int) -> None:
    first_ms = (until_ms // HOUR_MS - work.days * 24) * HOUR_MS
    telemetry = Telemetry(work.partitions, work.groups, seed=SEED)
    for number, at_ms in enumerate(range(first_ms, until_ms - HOUR_MS, HOUR_MS)):
        telemetry.write(path / "thin", at_ms, at_ms + 10_000, groups_from_ms=at_ms)
        if number % 24 == 23:
            append(lake, path / "thin")
            for file in (path / "thin").iterdir():
                file.unlink()
    config = config_of(path, first_ms, until_ms, "spark.driver.memory=4g")
    absorb(lake, config, config.clusters)


def config_of(path: Path, from_ms: int, to_ms: int, *conf: str) -> RunConfig:
    return RunConfig(
        run_id="bench",
        master=f"local[{CORES}]",
        data_uri=path.as_uri(),
        work_dir=str(path),
        from_ts_ms=from_ms,
        to_ts_ms=to_ms,
        deadline_s=3_600,
        clusters=(ClusterInput(cluster_id=CLUSTER, bootstrap_servers="-"),),
        spark_conf=dict(pair.split("=", 1) for pair in conf),
    )


def session_of(config: RunConfig) -> SparkSession:
    return session.start(config, jar_paths(Path(os.environ["PENSTOCK_SPARK_JARS_DIR"])))


def measure(work: Work, path: Path, title: str, goal: str) -> None:
    config = config_of(path, TO_MS - work.range_s * 1000, TO_MS)
    samples = int((path / "samples").read_text())
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    with timed("session"):
        spark = session_of(config)
    with timed("silver"):
        lake = Lake.opened(spark, config.data_uri)
        absorb(lake, config, config.clusters)
    with timed("gold"):
        silver = read_silver(lake, config, config.clusters)
        rows = write_gold(silver, config, on_table=lambda _done, _name: None)
    if work.tidies:
        _tidy(lake, config)
    spent_s = tree_cpu_s() - cpu_s
    line(title, samples, "all", spent_s, time.monotonic() - wall_s, goal)
    note(f"peak memory: JVM {peak_mib('java'):,} MiB, Python {peak_mib('python'):,} MiB in all")
    if work.tidies:
        share = spent_s * RUNS_AN_HOUR / (3600 * CORES)
        note(f"{RUNS_AN_HOUR} such runs an hour: {share:.1%} of {CORES} cores")
    if min(rows.values()) == 0:
        raise SystemExit(f"a table is empty: {rows}")
    spark.stop()


def prepare_hours(path: Path) -> None:
    """Silver of the last two whole hours and of what an hourly run looks back on."""
    from_ms, to_ms = _hours()
    telemetry = Telemetry(PARTITIONS, GROUPS, seed=SEED)
    samples = telemetry.write(
        path / "new", from_ms - 24 * HOUR_MS, to_ms, groups_from_ms=from_ms - 1_200_000
    )
    (path / "samples").write_text(str(samples))
    config = config_of(path, from_ms, to_ms, "spark.driver.memory=4g")
    lake = Lake.opened(session_of(config), config.data_uri)
    append(lake, path / "new")
    absorb(lake, config, config.clusters)
    lake.spark.stop()


def measure_hours(path: Path, title: str, goal: str) -> None:
    """An hourly run: the last two hours."""
    from_ms, to_ms = _hours()
    config = dataclasses.replace(config_of(path, from_ms, to_ms), job=Job.HOURLY)
    samples = int((path / "samples").read_text())
    cpu_s, wall_s = tree_cpu_s(), time.monotonic()
    with timed("session"):
        lake = Lake.opened(session_of(config), config.data_uri)
    with timed("rollups"):
        silver = read_silver(lake, config, config.clusters)
        rows = write_rollups(silver, config, on_table=lambda _done, _name: None)
    spent_s = tree_cpu_s() - cpu_s
    line(title, samples, "all", spent_s, time.monotonic() - wall_s, goal)
    note(f"peak memory: JVM {peak_mib('java'):,} MiB, Python {peak_mib('python'):,} MiB in all")
    note(f"one such run an hour: {spent_s / (3600 * CORES):.1%} of {CORES} cores")
    if min(rows.values()) == 0:
        raise SystemExit(f"a table is empty: {rows}")
    lake.spark.stop()


def _hours() -> tuple[int, int]:
    to_ms = TO_MS // HOUR_MS * HOUR_MS
    return to_ms - 2 * HOUR_MS, to_ms


def _tidy(lake: Lake, config: RunConfig) -> None:
    """As when an hour has passed; days and lost files are a matter of once a day."""
    for table in TABLES:
        lake.loaded(table).updateProperties().set(TIDIED, str(TO_MS - HOUR_MS)).commit()
    with timed("tidy"):
        note(str(tidy(lake, config, now_ms=TO_MS)))
