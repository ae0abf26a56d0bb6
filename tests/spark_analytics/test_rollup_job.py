"""Rollups under bad luck: gaps, duplicates, a group born again, kill -9 in each phase of the job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from spark_analytics.contracts.gold import HOUR_S, ROLLUP_FORMULA_VERSION, ROLLUP_TABLES
from spark_analytics.contracts.runs import ClusterInput, Job, RunConfig
from spark_analytics.io.tables import BRONZE, SILVER_TOPIC
from spark_analytics.jobs.absorb import absorb
from tests.local_cluster import ROOT
from tests.spark_analytics import rollup_reference
from tests.spark_analytics.cases import group_slice, topic_slice
from tests.spark_analytics.lakes import jars_dir, lake_in
from tests.spark_analytics.test_rollups import RULES, keyed, spark_rollups

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
HOUR_MS = HOUR_S * 1000
START_MS = 1_760_000_000_000 // HOUR_MS * HOUR_MS
HOURS = 3


def at(minute):
    return {"ts_ms": START_MS + minute * 60_000, "oldest_ts_ms": [START_MS - 60_000]}


def read(minute, committed, end, **more):
    return group_slice(0, committed, end, **{"ts_ms": at(minute)["ts_ms"], **more})


def written(minutes):
    """100 records a minute."""
    return [topic_slice(0, 100 * m + 1000, **at(m)) for m in minutes]


def both(spark, slices):
    """Spark's rows, which are those of the reference, by the hour in which they begin."""
    span = {"period_s": HOUR_S, "from_ms": START_MS, "to_ms": START_MS + HOURS * HOUR_MS}
    actual = spark_rollups(spark, slices, **span)
    expected = rollup_reference.rollups(slices, RULES, **span)
    for table, rows in actual.items():
        found, wanted = keyed(table, rows), keyed(table, expected[table])
        assert found.keys() == wanted.keys()
        for key, row in wanted.items():
            for name, value in row.items():
                if isinstance(value, float):
                    value = pytest.approx(value, rel=1e-9, abs=1e-6)
                assert found[key][name] == value, (key, name)
    return {
        table: {(row["ts_ms"] - START_MS) // HOUR_MS: row for row in rows}
        for table, rows in actual.items()
    }


def test_an_hour_without_samples_has_no_row_and_its_records_are_nobody_s(spark):
    minutes = [*range(60), *range(120, 180)]
    slices = [*written(minutes), *(read(m, 100 * m, 100 * m + 1000) for m in minutes)]
    found = both(spark, slices)
    for table in ROLLUP_TABLES:
        assert found[table].keys() == {0, 2}, "a missing hour is not an hour of nothing"
        # A sample a minute, where two are expected.
        assert {row["samples"] for row in found[table].values()} == {60}
        assert {row["expected"] for row in found[table].values()} == {120}
    # Sixty samples have 59 steps between them; what came in the hour between is in no hour.
    assert [row["records_in"] for row in found["topic_rollup"].values()] == [5900, 5900]
    assert [row["records_out"] for row in found["group_rollup"].values()] == [5900, 5900]


def test_the_same_samples_twice_are_the_same_samples_once(spark):
    minutes = range(90)
    slices = [*written(minutes), *(read(m, 100 * m, 100 * m + 1000) for m in minutes)]
    assert both(spark, [*slices, *slices, *slices[::-1]]) == both(spark, slices)


def test_a_group_that_is_deleted_and_born_again_reads_no_less_than_nothing(spark):
    ends = {m: 100 * m + 1000 for m in range(120)}
    lives = [
        *(read(m, 100 * m + 900, ends[m]) for m in range(20)),
        # Deleted at minute 20, and at minute 30 it begins from the start.
        *(read(m, 50 * (m - 30), ends[m]) for m in range(30, 120)),
    ]
    rows = both(spark, [*written(range(120)), *lives])["group_rollup"]
    first, second = rows[0], rows[1]
    assert first["samples"] == 50
    assert first["records_out"] == 19 * 100 + 29 * 50
    assert first["lost_records"] == 0
    assert second["records_out"] == 60 * 50
    assert (first["lag_records_max"], second["rewinds"]) == (ends[59] - 50 * 29, 0)
    # Between two samples so far apart nothing is told, so the fall is not either.
    assert first["rewinds"] == 0


def test_a_group_that_is_born_again_at_once_is_seen_to_go_back(spark):
    ends = {m: 100 * m + 1000 for m in range(60)}
    lives = [read(m, 100 * m if m < 30 else 10 * (m - 30), ends[m]) for m in range(60)]
    row = both(spark, [*written(range(60)), *lives])["group_rollup"][0]
    assert (row["rewinds"], row["records_out"]) == (1, 29 * 100 + 29 * 10)


def filled(spark, path):
    """A lake with three hours of a topic and its group in silver."""
    lake = lake_in(spark, path)
    minutes = range(HOURS * 60)
    slices = [*written(minutes), *(read(m, 100 * m, 100 * m + 1000) for m in minutes)]
    names = BRONZE.schema.names
    rows = []
    for offset, one in enumerate(slices):
        row = {
            **{name: one.get(name) for name in names},
            "cluster_id": "kc_a",
            "cluster": "kc_a",
            "part": one["kind"],
            "kafka_partition": 0,
            "kafka_offset": offset,
            "kafka_ts_ms": one["ts_ms"],
        }
        rows.append({name: row[name] for name in names if name != "sampled_at"})
    schema = BRONZE.schema.__class__([f for f in BRONZE.schema.fields if f.name != "sampled_at"])
    frame = lake.spark.createDataFrame(rows, schema)
    frame = frame.withColumn("sampled_at", F.timestamp_millis("ts_ms"))
    frame.select(*names).coalesce(1).writeTo(BRONZE.path).append()
    config = config_of(path, path, job=Job.TELEMETRY)
    absorb(lake, config, config.clusters)
    assert lake.read(SILVER_TOPIC).count() == HOURS * 60


def config_of(lake_path, work, job=Job.HOURLY):
    return RunConfig(
        run_id="run_1",
        master="local[2]",
        data_uri=lake_path.as_uri(),
        work_dir=str(work),
        from_ts_ms=START_MS,
        to_ts_ms=START_MS + HOURS * HOUR_MS,
        deadline_s=300,
        clusters=(ClusterInput(cluster_id="kc_a", bootstrap_servers="-"),),
        job=job,
        jars_dir=str(jars_dir()),
    )


def started(config):
    work = Path(config.work_dir)
    work.mkdir()
    (work / "config.json").write_text(config.to_json())
    command = [sys.executable, "-m", "spark_analytics", "run", "--config", work / "config.json"]
    with (work / "said").open("w") as said:
        # A group of its own, as the supervisor starts it: the JVM dies with it.
        return subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said, start_new_session=True)


def steps(work):
    try:
        lines = (work / "progress.jsonl").read_text().splitlines()
    except OSError:
        return set()
    found = set()
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found.add((row["phase"], row["done"]))
    return found


PHASES = [("session", 0), ("silver", 0), ("gold", 0), ("gold", 2)]


def test_killed_in_any_phase_an_hourly_run_leaves_nothing_half_and_the_next_one_the_same(
    spark, tmp_path
):
    filled(spark, tmp_path / "lake")
    contents = []
    for number, step in enumerate([*PHASES, None]):
        work = tmp_path / f"work-{number}"
        process = started(config_of(tmp_path / "lake", work))
        try:
            while step is not None and step not in steps(work) and process.poll() is None:
                time.sleep(0.02)
            if step is not None:
                assert process.poll() is None, (work / "said").read_text()[-3000:]
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=200)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        if step is not None:
            assert not (work / "result.json").exists(), step
            continue
        result = json.loads((work / "result.json").read_text())
        assert result["ok"], (work / "said").read_text()[-3000:]
        assert result["formula_version"] == ROLLUP_FORMULA_VERSION
        assert result["rows"] == dict.fromkeys(ROLLUP_TABLES, HOURS)
        contents.append({name: (work / f"{name}.jsonl").read_bytes() for name in ROLLUP_TABLES})
        rows = [json.loads(line) for line in contents[0]["topic_rollup"].splitlines()]
        assert [row["records_in"] for row in rows] == [5900, 6000, 6000]
    # What was written whole before a kill is what the whole run wrote.
    for number in range(len(PHASES)):
        for name, bytes_of in contents[0].items():
            part = tmp_path / f"work-{number}" / f"{name}.jsonl"
            assert not part.exists() or part.read_bytes() == bytes_of
    lake = lake_in(spark, tmp_path / "lake")
    assert lake.read(SILVER_TOPIC).count() == HOURS * 60, "a rollup changes nothing in the lake"
