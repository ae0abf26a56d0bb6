"""The lake's tables: kept small with counts, grown by columns, known to a database, begun anew."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.runs import CATALOG_SECRETS, CatalogInput, ClusterInput, RunConfig
from spark_analytics.io import cursors, history, tables, upkeep
from spark_analytics.io.lake import FORMER_TABLES, PLAIN_FOLDERS
from spark_analytics.io.tables import BRONZE, SILVER_TOPIC, TABLES
from spark_analytics.jobs import absorb, tidy
from spark_analytics.schemas import CATALOG
from tests.local_cluster import ROOT
from tests.postgres_server import PostgresServer
from tests.spark_analytics.lakes import drivers, jars_dir, lake_in

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
DAY_MS = 24 * 3600 * 1000
NOON_MS = time.time_ns() // 1_000_000 // DAY_MS * DAY_MS + DAY_MS // 2
SOON_MS = time.time_ns() // 1_000_000 + 2 * 3600 * 1000
APPENDS = 9


def appended(lake, offset: int, *, at_ms: int = NOON_MS, cluster: str = "kc_a", end: int = 5):
    """One topic slice, in one commit and one file."""
    row = {
        "kind": "topic",
        "part": "topic",
        "cluster": cluster,
        "cluster_id": cluster,
        "topic": "t",
        "ts_ms": at_ms + offset,
        "kafka_ts_ms": at_ms,
        "kafka_partition": 0,
        "kafka_offset": offset,
        "partition": [0],
        "leader_epoch": [0],
        "log_start_offset": [0],
        "log_end_offset": [end],
        "size_bytes": [None],
        "oldest_ts_ms": [None],
    }
    frame = lake.spark.createDataFrame([row], BRONZE_ROWS)
    frame = frame.withColumn("sampled_at", F.timestamp_millis("ts_ms"))
    frame.coalesce(1).writeTo(BRONZE.path).append()


BRONZE_ROWS = StructType([field for field in BRONZE.schema.fields if field.name != "sampled_at"])


def config_of(lake, *clusters: str, **more) -> RunConfig:
    start_ms = NOON_MS - NOON_MS % 30_000
    return RunConfig(
        run_id="r",
        master="local[2]",
        data_uri=lake.uri,
        work_dir="/nowhere",
        from_ts_ms=start_ms,
        to_ts_ms=start_ms + 600_000,
        deadline_s=600,
        clusters=tuple(ClusterInput(cluster_id=c, bootstrap_servers="-") for c in clusters),
        **more,
    )


def files(lake, table) -> int:
    return lake.spark.table(f"{table.path}.files").count()


def snapshots(lake) -> int:
    return lake.spark.table(f"{BRONZE.path}.snapshots").count()


def test_tidying_does_what_it_says(spark, tmp_path):
    lake = lake_in(spark, tmp_path)
    appended(lake, 100, at_ms=NOON_MS - 20 * DAY_MS)
    for number in range(APPENDS):
        appended(lake, number)
    data = tmp_path / "tables/bronze/telemetry/data"
    lost, young = data / "lost.parquet", data / "young.parquet"
    for file in (lost, young):
        file.write_bytes(b"x")
    os.utime(lost, (time.time() - 5 * 86_400,) * 2)
    config = config_of(lake)
    assert str(tidy.tidy(lake, config)) == "nothing is due"
    rows = lake.read(BRONZE).filter(F.col("sampled_at") >= F.timestamp_millis(F.lit(NOON_MS)))
    before = sorted(rows.collect(), key=str)

    # A day after the tables were made what is due once a day is due as well.
    lake.loaded(BRONZE).updateProperties().set(tables.TIDIED, str(SOON_MS - DAY_MS)).commit()
    done = tidy.tidy(lake, config, now_ms=SOON_MS)
    assert done.dropped == {BRONZE.name: 1}
    assert done.orphans == {BRONZE.name: 1}
    assert done.compacted == {BRONZE.name: APPENDS}
    assert done.expired == {BRONZE.name: APPENDS + 1}
    assert str(done) == f"files: compacted {APPENDS}, expired {APPENDS + 1}, dropped 1, orphans 1"
    assert (lost.exists(), young.exists()) == (False, True)
    assert (files(lake, BRONZE), snapshots(lake)) == (1, 1)
    assert len(list(data.rglob("0*.parquet"))) == 1
    assert sorted(lake.read(BRONZE).collect(), key=str) == before
    assert str(tidy.tidy(lake, config, now_ms=SOON_MS)) == "nothing is due"


def test_what_somebody_goes_on_from_is_not_forgotten(spark, tmp_path):
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a")
    appended(lake, 0)
    absorb.absorb(lake, config, config.clusters)
    since = cursors.read(lake)["kc_a"].snapshot
    for number in range(1, 4):
        appended(lake, number)
    tidy.tidy(lake, config, now_ms=SOON_MS)
    assert [step.start for step in history.steps(lake, since)] == [since]
    taken = absorb.absorb(lake, config, config.clusters)["kc_a"]
    assert (taken.records_in, taken.offsets_end) == (3, {"0": 4})
    # A batch that is noted as begun alone may be in the table: its number must be found there.
    note = tmp_path / "streams" / str(lake.loaded(BRONZE).uuid()) / "kc_b" / "offsets" / "7"
    note.parent.mkdir(parents=True)
    note.touch()
    os.utime(note, (1, 1))
    os.utime(note)
    assert tidy.unfinished_batches_ms(lake) == [note.stat().st_mtime_ns // 1_000_000]
    (note.parents[1] / "commits").mkdir()
    (note.parents[1] / "commits" / "7").touch()
    assert tidy.unfinished_batches_ms(lake) == []


def test_a_backlog_is_absorbed_in_steps_and_twice_is_once(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(history, "STEP_RECORDS", 2)
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a")
    appended(lake, 0, end=1)
    absorb.absorb(lake, config, config.clusters)
    told = lake.loaded(tables.SILVER_GROUP).properties().get(cursors.PROPERTY)
    for number in range(1, 6):
        appended(lake, number, end=number + 1)
    since = cursors.read(lake)["kc_a"].snapshot
    assert len(history.steps(lake, since)) == 3
    assert absorb.absorb(lake, config, config.clusters)["kc_a"].records_in == 5
    (once,) = lake.read(SILVER_TOPIC).collect()
    assert (once["kafka_offset"], once["log_end_offset"]) == (5, [6])
    # As if killed before the cursor was written.
    lake.loaded(tables.SILVER_GROUP).updateProperties().set(cursors.PROPERTY, told).commit()
    absorb.absorb(lake, config, config.clusters)
    assert lake.read(SILVER_TOPIC).collect() == [once]


def test_offsets_without_a_record_are_counted_once(spark, tmp_path):
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a", "kc_b")

    def taken():
        found = absorb.absorb(lake, config, config.clusters)
        return {key: (one.records_in, one.records_skipped) for key, one in found.items()}

    # What was there before the first run is not missed, a hole in what it reads is.
    for offset in (50, 51, 54):
        appended(lake, offset)
    appended(lake, 7, cluster="kc_b")
    assert taken() == {"kc_a": (3, 2), "kc_b": (1, 0)}
    assert taken() == {"kc_a": (0, 0), "kc_b": (0, 0)}
    # Retention took 55 to 59 before this run came.
    appended(lake, 60)
    appended(lake, 8, cluster="kc_b")
    assert taken() == {"kc_a": (1, 5), "kc_b": (1, 0)}
    assert taken() == {"kc_a": (0, 0), "kc_b": (0, 0)}


def test_a_recreated_telemetry_topic_begins_again(spark, tmp_path):
    lake = lake_in(spark, tmp_path)

    def taken(topic_id):
        config = config_of(lake, "kc_a")
        (cluster,) = config.clusters
        cluster = dataclasses.replace(cluster, telemetry_topic_id=topic_id)
        return absorb.absorb(lake, config, [cluster])["kc_a"]

    appended(lake, 90)
    assert not taken("first").telemetry_recreated
    appended(lake, 0, at_ms=NOON_MS + 100)
    found = taken("second")
    assert found.telemetry_recreated
    assert (found.records_in, found.records_skipped, found.offsets_end) == (1, 0, {"0": 1})
    # Said once; and offsets count from where the new topic is.
    appended(lake, 3, at_ms=NOON_MS + 100)
    found = taken("second")
    assert (found.telemetry_recreated, found.records_skipped) == (False, 2)
    # Nobody could say which topic it was: that is no other one.
    appended(lake, 4, at_ms=NOON_MS + 100)
    assert not taken(None).telemetry_recreated
    appended(lake, 0, at_ms=NOON_MS + 200)
    assert taken("third").telemetry_recreated


def test_a_window_keeps_its_last_whole_slice_whatever_comes_late(spark, tmp_path):
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a")
    for offset, end in ((10, 7), (3, 5), (20, 9)):
        appended(lake, offset, end=end)
        absorb.absorb(lake, config, config.clusters)
    (row,) = lake.read(SILVER_TOPIC).collect()
    assert (row["kafka_offset"], row["log_end_offset"]) == (20, [9])


def test_a_column_of_a_later_version_reads_as_null_in_old_files(spark, tmp_path, monkeypatch):
    older = dataclasses.replace(
        BRONZE, schema=StructType([f for f in BRONZE.schema.fields if f.name != "members"])
    )
    monkeypatch.setattr("spark_analytics.io.lake.TABLES", (older, *TABLES[1:]))
    lake = lake_in(spark, tmp_path)
    rows = lake.spark.createDataFrame([{"cluster": "kc_a", "kafka_offset": 1}], older.schema)
    rows.writeTo(BRONZE.path).append()
    assert "members" not in lake.read(BRONZE).columns
    monkeypatch.undo()
    lake = lake_in(spark, tmp_path)
    rows = lake.spark.createDataFrame(
        [{"cluster": "kc_a", "kafka_offset": 2, "members": 3}], BRONZE.schema
    )
    rows.select(*lake.read(BRONZE).columns).writeTo(BRONZE.path).append()
    found = lake.read(BRONZE).select("kafka_offset", "members").orderBy("kafka_offset").collect()
    assert [tuple(row) for row in found] == [(1, None), (2, 3)]

    lake.spark.sql(f"ALTER TABLE {BRONZE.path} DROP COLUMN members")
    lake.spark.sql(f"ALTER TABLE {BRONZE.path} ADD COLUMN members string")
    with pytest.raises(ContractError, match=r"members is string in the lake, not int"):
        lake_in(spark, tmp_path)


def test_a_lake_of_plain_folders_begins_anew(spark, tmp_path, caplog):
    for name in PLAIN_FOLDERS:
        (tmp_path / name / "cluster=kc_a").mkdir(parents=True)
        (tmp_path / name / "cluster=kc_a" / "0.parquet").write_bytes(b"old")
    (tmp_path / "quarantine").mkdir()
    lake = lake_in(spark, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quarantine", "tables"]
    said = [record.getMessage() for record in caplog.records]
    assert len([line for line in said if "the lake begins anew" in line]) == len(PLAIN_FOLDERS)
    assert lake.read(BRONZE).count() == 0


def test_silver_with_a_row_a_partition_begins_anew(spark, tmp_path, caplog):
    older = lake_in(spark, tmp_path).spark
    for name in FORMER_TABLES:
        older.sql(f"CREATE TABLE {CATALOG}.{name} (cluster_id string) USING iceberg")
    lake = lake_in(spark, tmp_path)
    said = [record.getMessage() for record in caplog.records]
    assert len([line for line in said if "silver begins anew" in line]) == len(FORMER_TABLES)
    assert not any(lake.spark.catalog.tableExists(f"{CATALOG}.{name}") for name in FORMER_TABLES)
    assert cursors.read(lake) == {}, "bronze is taken again"
    lake_in(spark, tmp_path)
    assert len(caplog.records) == len(said), "and once"


@pytest.fixture(params=["sqlite", "postgres"])
def catalog_uri(request, tmp_path):
    if request.param == "sqlite":
        yield f"jdbc:sqlite:file:{tmp_path}/catalog.db?busy_timeout=10000"
        return
    server = PostgresServer()
    try:
        server.start()
        yield f"jdbc:postgresql://127.0.0.1:{server.port}/postgres"
    finally:
        server.remove()


def test_a_database_may_know_the_tables(catalog_uri, tmp_path):
    """By a run's own process, twice: the second finds what the first made."""
    password = "not-on-a-command-line"
    for number in (1, 2):
        work = tmp_path / f"work-{number}"
        work.mkdir()
        secrets = work / "secrets.json"
        secrets.touch(mode=0o600)
        secrets.write_text(
            json.dumps({CATALOG_SECRETS: {"user": "penstock", "password": password}})
        )
        config = RunConfig(
            run_id=f"run_{number}",
            master="local[2]",
            data_uri=(tmp_path / "lake").as_uri(),
            work_dir=str(work),
            from_ts_ms=0,
            to_ts_ms=30_000,
            deadline_s=300,
            # Its hosts are the JVM's only name service, which must know the database's as well.
            clusters=(
                ClusterInput(cluster_id="kc_a", bootstrap_servers="-", hosts={}, refusal="no"),
            ),
            catalog=CatalogInput(uri=catalog_uri, jars=tuple(drivers())),
            jars_dir=str(jars_dir()),
            secrets_path=str(secrets),
        )
        (work / "config.json").write_text(config.to_json())
        process = subprocess.Popen(
            [sys.executable, "-m", "spark_analytics", "run", "--config", str(work / "config.json")],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        commands = set()
        while process.poll() is None:
            commands |= {line for line in command_lines() if str(work) in line}
            time.sleep(0.2)
        said = process.stdout.read()
        result = json.loads((work / "result.json").read_text())
        # A cluster that must not be read, and nothing else was wrong.
        assert result["error"] == "no", said[-3000:]
        assert any("java" in line for line in commands)
        assert not any(password in line for line in commands)
    data = tmp_path / "lake" / "tables"
    assert not list(data.rglob("version-hint.text")), "the database knows which version counts"
    made = {path.parent.parent.name for path in data.rglob("*.metadata.json")}
    assert {"telemetry", "topic_slice", "group_slice"} <= {name.split("-")[0] for name in made}


def command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def test_small_files_are_counted_by_partition(spark, tmp_path):
    lake = lake_in(spark, tmp_path)
    for number in range(3):
        appended(lake, number)
    appended(lake, 9, cluster="kc_b")
    assert upkeep.small_files(lake, BRONZE, NOON_MS // DAY_MS * DAY_MS) == 3
    assert upkeep.small_files(lake, BRONZE, NOON_MS // DAY_MS * DAY_MS + DAY_MS) == 0
