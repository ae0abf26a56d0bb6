"""One cluster's trouble is its own: its range, and a data file of it that cannot be read."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.runs import ClusterInput, RunConfig
from spark_analytics.io.limits import limited
from spark_analytics.io.run_files import Progress
from spark_analytics.io.tables import BRONZE, SILVER_GROUP, SILVER_TOPIC, TABLES
from spark_analytics.jobs import compute
from spark_analytics.jobs import run as runs
from spark_analytics.transforms import judging
from tests.bench.spark.telemetry import Telemetry, append
from tests.spark_analytics.lakes import lake_in

pytestmark = pytest.mark.spark
TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
FROM_MS = TO_MS - 120_000
NOW_MS = TO_MS - 60_000
"""What is older is in the lake before the tests' runs begin."""
BOUNDED = {"0": 10**9}
CLUSTERS = ("kc_a", "kc_b")


@pytest.fixture
def lake(spark, tmp_path, monkeypatch):
    """A lake of two clusters; bronze is as it was made here, for nothing is ingested."""
    monkeypatch.setattr(runs, "ingest", lambda *_, **__: None)
    made = lake_in(spark, tmp_path)
    fill(made, tmp_path / "old", NOW_MS - 300_000, NOW_MS)
    return made


def fill(lake, files: Path, from_ms: int, to_ms: int) -> None:
    """Each kind and cluster in a file of its own."""
    for cluster in CLUSTERS:
        telemetry = Telemetry(100, 1, seed=1, cluster_id=cluster)
        telemetry.write(files / cluster, from_ms, to_ms, groups_from_ms=from_ms)
        for kind in ("topic", "group"):
            folder = files / cluster / kind
            folder.mkdir()
            for file in (files / cluster).glob(f"*-{kind}.parquet"):
                file.rename(folder / file.name)
            append(lake, folder)


def run(lake, *clusters: str, starts_ms: dict[str, int] | None = None, bounds=None):
    path = Path(lake.uri.removeprefix("file://"))
    work = path / "work"
    work.mkdir(exist_ok=True)
    config = RunConfig(
        run_id="r1",
        master="local[2]",
        data_uri=path.as_uri(),
        work_dir=str(work),
        from_ts_ms=FROM_MS,
        to_ts_ms=TO_MS,
        deadline_s=600,
        clusters=tuple(
            ClusterInput(
                cluster_id=cluster,
                bootstrap_servers="-",
                offsets_end=bounds,
                from_ts_ms=(starts_ms or {}).get(cluster),
            )
            for cluster in clusters or CLUSTERS
        ),
    )
    result = runs.run_in(lake.spark, config, {}, Progress(str(work)))
    return result, {table: (work / f"{table}.jsonl").read_bytes() for table in GOLD_TABLES}


def files_of(lake, table, cluster, *, holding=None) -> list[Path]:
    """The table's data files of that cluster, those with such rows."""
    files = lake.spark.table(f"{table.path}.files").filter(
        F.col(f"partition.{table.cluster}") == cluster
    )
    rows = lake.read(table).select("*", F.input_file_name().alias("file"))
    if holding is not None:
        files = files.join(
            rows.filter(holding).select(F.col("file").alias("file_path")).distinct(),
            "file_path",
            "left_semi",
        )
    paths = files.select("file_path").collect()
    return [Path(row[0].removeprefix("file:").replace("///", "/")) for row in paths]


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil(file: Path) -> None:
    """Of the same length, but not a Parquet file any more."""
    file.write_bytes(b"\0" * file.stat().st_size)


def of_a(gold: dict[str, bytes]) -> dict[str, list[bytes]]:
    return {
        table: [line for line in lines.splitlines() if json.loads(line)["cluster_id"] == "kc_a"]
        for table, lines in gold.items()
    }


@pytest.mark.parametrize(
    ("kind", "damage", "bounds"),
    [("topic", cut, BOUNDED), ("group", cut, None), ("topic", spoil, None)],
    ids=["topic-cut-bounded", "group-cut-new", "topic-spoilt-new"],
)
def test_a_bronze_file_that_cannot_be_read_is_put_aside(lake, kind, damage, bounds):
    _, whole = run(lake, bounds=BOUNDED)
    (file,) = files_of(lake, BRONZE, "kc_b", holding=F.col("part") == kind)
    damage(file)

    result, gold = run(lake, bounds=bounds)
    first, second = result.clusters
    assert result.ok
    assert first.error is None
    assert first.records_in > 0
    name = str(file).partition("/tables/")[2]
    assert second.error == f"telemetry of {name} cannot be read; it is in quarantine"
    assert of_a(gold) == of_a(whole)
    assert all(b"kc_b" not in rows for rows in gold.values())
    assert not file.exists()
    assert (Path(lake.uri.removeprefix("file://")) / "quarantine" / name).exists()
    assert files_of(lake, BRONZE, "kc_b", holding=F.col("part") == kind) == []

    after, _ = run(lake, bounds=bounds)
    assert [cluster.error for cluster in after.clusters] == [None, None]
    assert after.clusters[1].records_in == first.records_in // 2


@pytest.mark.parametrize("table", [SILVER_TOPIC, SILVER_GROUP], ids=lambda table: table.name)
def test_a_silver_file_that_cannot_be_read_is_made_again_from_bronze(lake, table):
    _, whole = run(lake)
    cut(files_of(lake, table, "kc_b", holding=F.col("window_ms") >= FROM_MS)[0])
    result, gold = run(lake)
    assert [cluster.error is None for cluster in result.clusters] == [True, False]
    assert of_a(gold) == of_a(whole)
    again, gold = run(lake)
    assert [cluster.error for cluster in again.clusters] == [None, None]
    assert gold == whole


def test_when_every_cluster_has_such_a_file_the_run_fails_with_the_reason(lake):
    for cluster in CLUSTERS:
        cut(files_of(lake, BRONZE, cluster)[0])
    path = Path(lake.uri.removeprefix("file://")) / "work"
    path.mkdir()
    for table in GOLD_TABLES:
        (path / f"{table}.jsonl").touch()
    result, _ = run(lake)
    assert not result.ok
    assert "it is in quarantine" in (result.error or "")
    assert all(cluster.error for cluster in result.clusters)


def test_a_run_takes_in_what_is_new_and_gives_what_all_of_it_gives(lake, tmp_path):
    first, _ = run(lake)
    assert [cluster.records_in for cluster in first.clusters] == [60, 60]
    nothing, _ = run(lake)
    assert [cluster.records_in for cluster in nothing.clusters] == [0, 0]
    assert [c.offsets_end for c in nothing.clusters] == [c.offsets_end for c in first.clusters]
    fill(lake, tmp_path / "new", NOW_MS, TO_MS)
    result, gold = run(lake)
    # A topic slice and a group slice every ten seconds.
    assert [cluster.records_in for cluster in result.clusters] == [12, 12]
    _, bounded = run(lake, bounds=BOUNDED)
    assert gold == bounded


def test_each_cluster_is_computed_from_its_own_start(lake):
    _, whole = run(lake)
    late_ms = FROM_MS + 60_000
    result, gold = run(lake, starts_ms={"kc_b": late_ms})
    assert [cluster.from_ts_ms for cluster in result.clusters] == [FROM_MS, late_ms]
    for table, lines in whole.items():
        rows = [json.loads(line) for line in lines.splitlines()]
        expected = [row for row in rows if row["cluster_id"] == "kc_a" or row["ts_ms"] >= late_ms]
        assert 0 < len(expected) < len(rows)
        assert [json.loads(line) for line in gold[table].splitlines()] == expected


def hang(monkeypatch, cluster: str, *, fails: bool = False) -> None:
    """A task that has rows of this cluster does not end, or dies."""
    made = judging.gold_work

    def gold_of(rules):
        work = made(rules)

        def hanging(batches):
            def looked_at():
                for batch in batches:
                    if cluster in batch.column("cluster_id").to_pylist():
                        if fails:
                            raise MemoryError(f"no memory for {cluster}")
                        time.sleep(3600)
                    yield batch

            yield from work(looked_at())

        return hanging

    monkeypatch.setattr(judging, "gold_work", gold_of)


def limits(monkeypatch, *seconds: float | None) -> list[float]:
    """The limits that were given; each in turn is replaced, but None."""
    given, turns = [], iter(seconds)

    def replaced(spark, wanted):
        given.append(wanted)
        return limited(spark, next(turns) or wanted)

    monkeypatch.setattr(compute, "limited", replaced)
    return given


def test_a_cluster_that_takes_too_long_does_not_hold_up_the_others(lake, tmp_path, monkeypatch):
    fill(lake, tmp_path / "new", NOW_MS, TO_MS)
    expected = of_a(run(lake, "kc_a")[1])
    hang(monkeypatch, "kc_b")
    given = limits(monkeypatch, 8.0, None, 5.0)
    result, gold = run(lake)
    assert result.ok
    a, b = result.clusters
    assert (a.cluster_id, a.error) == ("kc_a", None)
    assert b.error == f"not computed within {given[2]:.0f} s, its share of the run's time"
    assert of_a(gold) == expected
    assert {table: rows for table, rows in result.rows.items() if rows} == {
        table: len(rows) for table, rows in expected.items()
    }
    assert given[0] == pytest.approx(240, abs=60), "half of what is left until gold is due"
    assert 0 < given[1] < given[2] + 60, "a share each"


def test_a_cluster_that_no_task_gets_done_does_not_fail_the_others(lake, tmp_path, monkeypatch):
    """As where a worker needs more memory than there is."""
    fill(lake, tmp_path / "new", NOW_MS, TO_MS)
    expected = of_a(run(lake, "kc_a")[1])
    hang(monkeypatch, "kc_b", fails=True)
    result, gold = run(lake)
    a, b = result.clusters
    assert (result.ok, a.error) == (True, None)
    assert "no memory for kc_b" in str(b.error)
    assert of_a(gold) == expected
    assert not (Path(lake.uri.removeprefix("file://")) / "quarantine").exists()


def test_when_the_time_is_over_no_file_is_called_damaged(lake, tmp_path, monkeypatch):
    """What is asked of Spark then fails whatever the file is like."""
    fill(lake, tmp_path / "new", NOW_MS, TO_MS)
    hang(monkeypatch, "kc_b")
    limits(monkeypatch, 8.0, None, 5.0)
    before = {table.name: lake.spark.table(f"{table.path}.files").count() for table in TABLES}
    result, _ = run(lake)
    assert result.clusters[1].error is not None
    after = {table.name: lake.spark.table(f"{table.path}.files").count() for table in TABLES}
    assert after["bronze.telemetry"] == before["bronze.telemetry"]
    assert not (Path(lake.uri.removeprefix("file://")) / "quarantine").exists()
    # What was taken in before the time was over was taken in by this run.
    assert result.clusters[0].records_in > 0


def test_clusters_by_themselves_give_the_bytes_of_all_together(lake, tmp_path, monkeypatch):
    fill(lake, tmp_path / "new", NOW_MS, TO_MS)
    together = run(lake)
    limits(monkeypatch, 0.001, None, None)
    alone = run(lake)
    assert alone[1] == together[1]
    assert alone[0].rows == together[0].rows


def test_when_no_cluster_gets_done_the_run_has_failed_with_the_reason(lake, monkeypatch):
    hang(monkeypatch, "kc_a")
    limits(monkeypatch, 5.0)
    result, gold = run(lake, "kc_a")
    assert not result.ok
    assert "its share of the run's time" in str(result.error)
    assert set(gold.values()) == {b""}
