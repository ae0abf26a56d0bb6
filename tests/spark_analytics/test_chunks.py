"""Slices that travel in several records, in Spark: the same snapshots however they are cut."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from pyspark.sql import functions as F

from controlplane.analytics.chunks import encoded
from spark_analytics import quality
from spark_analytics.contracts.rules import Rules
from spark_analytics.io import history
from spark_analytics.io.tables import BRONZE, SILVER_GROUP, SILVER_TOPIC
from spark_analytics.jobs import absorb, silver
from spark_analytics.transforms import telemetry
from spark_analytics.transforms.snapshots import by_partition, group_slices, topic_slices
from tests.spark_analytics import world
from tests.spark_analytics.cases import group_slice, topic_slice
from tests.spark_analytics.lakes import lake_in
from tests.spark_analytics.test_lake import config_of

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
RULES = Rules()
SEEDS = range(8)
SLICES = {"topic": topic_slices, "group": group_slices}


def cut(slices, dice, *, share=0.5):
    """Each slice as records that were read, some of them in chunks of one or two partitions."""
    for one in slices:
        bytes_max = dice.choice([1, 420]) if dice.random() < share else 10**6
        yield [json.loads(record.value) for record in encoded([one], bytes_max=bytes_max)]


def offsets(lists):
    """Records in the order of their appending, each with its offset."""
    return list(enumerate(itertools.chain.from_iterable(lists)))


def bronze(spark, numbered, cluster_id):
    """As the ingest leaves them: parsed, judged, and kept by kind."""
    rows = [(json.dumps(record).encode(), 0, at, record["ts_ms"]) for at, record in numbered]
    records = spark.createDataFrame(rows, "value binary, partition int, offset long, at long")
    records = records.withColumn("timestamp", F.timestamp_millis("at"))
    parsed = telemetry.parse(records, quality.fault(cluster_id))
    return telemetry.to_bronze(parsed, cluster_id)


def snapshots(rows, kind):
    """What silver would hold, without where it was read."""
    of_kind = rows.filter(F.col("part") == kind)
    slices = SLICES[kind](of_kind, RULES.window_s).drop("kafka_offset")
    found = by_partition(slices, kind).collect()
    return sorted(map(tuple, found), key=str)


@pytest.mark.parametrize("kind", SLICES)
def test_any_cutting_gives_the_same_snapshots(spark, kind):
    whole, parts = [], []
    for seed in SEEDS:
        dice = random.Random(seed)
        slices = world.slices(seed, cluster_id="c")
        for one in slices:
            one["topic"] = f"t{seed}"
        whole += slices
        some = list(cut(slices, dice))
        # Chunks come again, and what comes again comes later.
        parts += [records + [r for r in records if dice.random() < 0.2] for records in some]
    assert len(list(itertools.chain(*parts))) > len(whole) * 1.2
    numbered = offsets(parts)
    random.Random(0).shuffle(numbered)
    expected = snapshots(bronze(spark, offsets([one] for one in whole), "c"), kind)
    assert len(expected) > 200
    assert snapshots(bronze(spark, numbered, "c"), kind) == expected


@pytest.mark.parametrize("kind", SLICES)
def test_of_a_slice_without_all_of_its_chunks_nothing_is_taken(spark, kind):
    """Its collector was killed: the window's last whole slice counts, or there is none."""
    kept, parts, torn = [], [], 0
    for seed in SEEDS:
        dice = random.Random(seed)
        slices = world.slices(seed, cluster_id="c")
        for one in slices:
            one["topic"] = f"t{seed}"
        for one, records in zip(slices, cut(slices, dice), strict=True):
            if len(records) > 1 and dice.random() < 0.6:
                torn += 1
                lost = dice.choice(records)
                parts.append([record for record in records if record != lost])
            else:
                kept.append(one)
                parts.append(records)
    assert torn > 100
    expected = snapshots(bronze(spark, offsets([one] for one in kept), "c"), kind)
    found = snapshots(bronze(spark, offsets(parts), "c"), kind)
    assert len(found) > 200
    assert found == expected


FOUR = {
    "partition": [0, 1, 2, 3],
    "leader_epoch": [0] * 4,
    "log_start_offset": [0] * 4,
    "size_bytes": [None] * 4,
    "oldest_ts_ms": [None] * 4,
}


def chunks_of(at, end, kind="topic"):
    ends = {"log_end_offset": [end] * 4}
    one = topic_slice(at, end, **FOUR, **ends)
    if kind == "group":
        one = group_slice(
            *(at, 0, end),
            partition=[0, 1, 2, 3],
            log_start_offset=[0] * 4,
            committed_offset=[end - 1] * 4,
            **ends,
        )
    one = {**one, "cluster_id": "kc_a", "ts_ms": START_MS + int(at * 60_000)}
    return [json.loads(record.value) for record in encoded([one], bytes_max=1)]


STORED = ("partition", "ts_ms", "log_end_offset", "kafka_offset")
START_MS = config_of(type("Nowhere", (), {"uri": "file:///nowhere"})).from_ts_ms


def appended(lake, numbered):
    """Records in one commit, in the order of the table's columns."""
    rows = bronze(lake.spark, numbered, "kc_a").select(*lake.read(BRONZE).columns)
    rows.coalesce(1).writeTo(BRONZE.path).append()


def stored(lake, table):
    kind = "topic" if table is SILVER_TOPIC else "group"
    rows = by_partition(lake.read(table), kind)
    return sorted(map(tuple, rows.select(*STORED).collect()))


@pytest.mark.parametrize("cut_at", [1, 3])
def test_a_slice_that_two_runs_read_in_halves_is_whole(spark, tmp_path, cut_at, monkeypatch):
    """The first run ends in the middle of a slice; the window keeps the one before it until then."""
    monkeypatch.setattr(history, "STEP_RECORDS", 3)
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a")
    first = [*chunks_of(0, 100), *chunks_of(0, 100, "group")]
    second = [*chunks_of(0.2, 120), *chunks_of(0.2, 120, "group")]
    numbered = list(enumerate([*first, *second]))
    tables_ = {SILVER_TOPIC: (3, 11), SILVER_GROUP: (7, 15)}
    at_ms = (START_MS, START_MS + 12_000)
    appended(lake, numbered[:8])
    absorb.absorb(lake, config, config.clusters)
    for table, (head, _) in tables_.items():
        assert stored(lake, table) == [(p, at_ms[0], 100, head) for p in range(4)]
    # Of the topic's slice some chunks, then the rest with some of the group's, then that.
    appended(lake, numbered[8 : 8 + cut_at])
    taken = absorb.absorb(lake, config, config.clusters)["kc_a"]
    assert taken.records_in == cut_at
    assert stored(lake, SILVER_TOPIC) == [(p, at_ms[0], 100, 3) for p in range(4)]
    appended(lake, numbered[8 + cut_at : 12 + cut_at])
    appended(lake, numbered[12 + cut_at :])
    taken = absorb.absorb(lake, config, config.clusters)["kc_a"]
    assert (taken.records_in, taken.records_skipped) == (8 - cut_at, 0)
    for table, (_, head) in tables_.items():
        assert stored(lake, table) == [(p, at_ms[1], 120, head) for p in range(4)]
    # All at once, from bronze, as a bounded run would.
    rows = silver.bounded_bronze(lake, config, config.clusters)
    of_topics = topic_slices(rows.filter(F.col("part") == "topic"), RULES.window_s)
    found = by_partition(of_topics, "topic").select(*STORED).collect()
    assert sorted(map(tuple, found)) == stored(lake, SILVER_TOPIC)


def test_a_lake_of_before_takes_chunks(spark, tmp_path):
    """Its bronze has no such columns: they come when it is opened, and what it holds is whole."""
    lake = lake_in(spark, tmp_path)
    lake.spark.sql(f"ALTER TABLE {BRONZE.path} DROP COLUMNS chunk, chunks")
    old = {**topic_slice(0, 5, **FOUR), "log_end_offset": [90] * 4, "cluster_id": "kc_a"}
    appended(lake, [(0, {**old, "ts_ms": START_MS})])
    assert "chunks" not in lake.read(BRONZE).columns
    lake = lake_in(spark, tmp_path)
    fields = {field.name: field for field in lake.read(BRONZE).schema.fields}
    assert (fields["chunk"].nullable, fields["chunks"].nullable) == (True, True)
    assert list(fields)[-2:] == ["chunk", "chunks"] != list(BRONZE.columns)[-2:]
    config = config_of(lake, "kc_a")
    absorb.absorb(lake, config, config.clusters)
    assert stored(lake, SILVER_TOPIC) == [(p, START_MS, 90, 0) for p in range(4)]
    appended(lake, list(enumerate(chunks_of(0.2, 120), start=1)))
    absorb.absorb(lake, config, config.clusters)
    assert stored(lake, SILVER_TOPIC) == [(p, START_MS + 12_000, 120, 4) for p in range(4)]


def test_what_was_torn_touches_no_other_hour(spark, tmp_path):
    """The rest of two slices comes, hours apart: what lies between them stays as it is."""
    lake = lake_in(spark, tmp_path)
    config = config_of(lake, "kc_a")
    small = {**topic_slice(1, 7), "topic": "u", "cluster_id": "kc_a"}
    between = [*chunks_of(1, 100), {**small, "ts_ms": START_MS + 60_000}]
    early, late = chunks_of(-90, 50), chunks_of(90, 200)
    numbered = list(enumerate([*between, *early[:2], *late[:2], *early[2:], *late[2:]]))
    appended(lake, numbered[:9])
    absorb.absorb(lake, config, config.clusters)
    there = stored(lake, SILVER_TOPIC)
    assert len(there) == 4 + 1
    appended(lake, numbered[9:])
    absorb.absorb(lake, config, config.clusters)
    found = stored(lake, SILVER_TOPIC)
    assert set(there) < set(found)
    assert len(found) == 4 + 1 + 2 * 4
