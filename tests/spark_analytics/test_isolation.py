"""One cluster's trouble is its own: its range, and a bronze file of it that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.runs import ClusterInput, RunConfig
from spark_analytics.io.run_files import Progress
from spark_analytics.jobs.run import run_in
from tests.bench.spark.telemetry import Telemetry

pytestmark = pytest.mark.spark
TO_MS = 1_760_000_040_000 - 1_760_000_040_000 % 30_000
FROM_MS = TO_MS - 120_000
BOUNDED = {"0": 10**9}
"""No ingest then: bronze is as it was made here."""


@pytest.fixture
def lake_path(tmp_path) -> Path:
    for cluster in ("kc_a", "kc_b"):
        telemetry = Telemetry(100, 1, seed=1, cluster_id=cluster)
        start_ms = FROM_MS - 600_000
        telemetry.write(tmp_path / "bronze", start_ms, TO_MS, groups_from_ms=start_ms)
    return tmp_path


def run(spark, path: Path, *clusters: str, starts_ms: dict[str, int] | None = None):
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
                offsets_end=BOUNDED,
                from_ts_ms=(starts_ms or {}).get(cluster),
            )
            for cluster in clusters
        ),
    )
    return run_in(spark, config, {}, Progress(str(work)))


def truncate(folder: Path, kind: str) -> Path:
    file = min(folder.glob(f"batch=*/part={kind}/dt=*/*.parquet"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return file


@pytest.mark.parametrize("kind", ["topic", "group"])
def test_a_truncated_file_is_put_aside_and_its_cluster_is_marked(spark, lake_path, kind):
    whole = run(spark, lake_path, "kc_a", "kc_b")
    assert [cluster.error for cluster in whole.clusters] == [None, None]
    file = truncate(lake_path / "bronze" / "cluster=kc_b", kind)

    result = run(spark, lake_path, "kc_a", "kc_b")
    first, second = result.clusters
    assert result.ok
    assert (first.error, first.records_in) == (None, whole.clusters[0].records_in)
    name = file.relative_to(lake_path / "bronze")
    assert second.error == f"telemetry of {name} cannot be read; it is in quarantine"
    assert {table: 2 * rows for table, rows in result.rows.items()} == whole.rows
    assert not file.exists()
    assert (lake_path / "quarantine" / name).exists()

    after = run(spark, lake_path, "kc_a", "kc_b")
    assert [cluster.error for cluster in after.clusters] == [None, None]
    assert after.clusters[1].records_in < whole.clusters[1].records_in


def test_when_every_cluster_has_such_a_file_the_run_fails_with_the_reason(spark, lake_path):
    for cluster in ("kc_a", "kc_b"):
        truncate(lake_path / "bronze" / f"cluster={cluster}", "topic")
    result = run(spark, lake_path, "kc_a", "kc_b")
    assert not result.ok
    assert "it is in quarantine" in (result.error or "")
    assert all(cluster.error for cluster in result.clusters)


def gold_rows(path: Path, table: str) -> list[dict]:
    return [json.loads(line) for line in (path / "work" / f"{table}.jsonl").open()]


def test_each_cluster_is_computed_from_its_own_start(spark, lake_path):
    run(spark, lake_path, "kc_a", "kc_b")
    whole = {table: gold_rows(lake_path, table) for table in GOLD_TABLES}
    late_ms = FROM_MS + 60_000
    result = run(spark, lake_path, "kc_a", "kc_b", starts_ms={"kc_b": late_ms})
    assert [cluster.from_ts_ms for cluster in result.clusters] == [FROM_MS, late_ms]
    for table, rows in whole.items():
        expected = [row for row in rows if row["cluster_id"] == "kc_a" or row["ts_ms"] >= late_ms]
        assert 0 < len(expected) < len(rows)
        assert gold_rows(lake_path, table) == expected
