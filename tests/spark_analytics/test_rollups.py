"""The rollups against the slow reference, over random worlds."""

from __future__ import annotations

import itertools

import pytest

from spark_analytics.contracts.gold import ROLLUP_TABLES
from spark_analytics.contracts.rules import Rules
from spark_analytics.jobs.rollups import rollup_frames
from spark_analytics.transforms.partition_rollup import partition_rollup
from spark_analytics.transforms.periods import Periods
from spark_analytics.transforms.snapshots import group_slices, topic_slices
from tests.spark_analytics import rollup_reference, world
from tests.spark_analytics.test_transforms import CASES, bronze, of_cluster

pytestmark = pytest.mark.spark
RULES = Rules()
PERIOD_S = 300
FROM_MS = world.START_MS // (PERIOD_S * 1000) * PERIOD_S * 1000 + PERIOD_S * 1000
TO_MS = FROM_MS + 4 * PERIOD_S * 1000
WORLDS = range(24)


def spark_rollups(spark, slices, *, from_ms=FROM_MS, to_ms=TO_MS, period_s=PERIOD_S):
    topics = topic_slices(bronze(spark, slices, "topic"), RULES.window_s).persist()
    groups = group_slices(bronze(spark, slices, "group"), RULES.window_s).persist()
    periods = Periods(period_s=period_s, from_ms=from_ms, to_ms=to_ms, rules=RULES)
    found = {}
    for table, frame in rollup_frames(topics, groups, periods).items():
        assert frame.dtypes == [(column.name, column.type.value) for column in table.columns]
        found[table.name] = [row.asDict() for row in frame.collect()]
    topics.unpersist()
    groups.unpersist()
    return found


def keyed(table, rows):
    found = {tuple(row[name] for name in ROLLUP_TABLES[table].key): row for row in rows}
    assert len(found) == len(rows), "two rows of one key"
    return found


@pytest.fixture(scope="module")
def both(spark):
    """One Spark pass over every random world and listed case, and what the reference says."""
    worlds = [world.slices(seed) for seed in WORLDS]
    listed = [one for case, slices in CASES.items() for one in of_cluster(case, slices)]
    actual = spark_rollups(spark, [*itertools.chain(*worlds), *listed])
    expected = {name: [] for name in ROLLUP_TABLES}
    for slices in [*worlds, listed]:
        found = rollup_reference.rollups(
            slices, RULES, period_s=PERIOD_S, from_ms=FROM_MS, to_ms=TO_MS
        )
        for name, rows in found.items():
            expected[name] += rows
    return actual, expected


@pytest.mark.parametrize("table", list(ROLLUP_TABLES))
def test_a_rollup_equals_the_reference(both, table):
    actual, expected = (keyed(table, side[table]) for side in both)
    assert actual.keys() == expected.keys()
    assert len(actual) > 40
    for key, row in expected.items():
        assert row.keys() == actual[key].keys()
        for name, value in row.items():
            got = actual[key][name]
            if isinstance(value, float):
                assert got == pytest.approx(value, rel=1e-9, abs=1e-6), (key, name)
            else:
                assert got == value, (key, name, row, actual[key])


@pytest.mark.parametrize("table", ROLLUP_TABLES.values(), ids=lambda table: table.name)
def test_null_is_where_the_contract_allows_it_and_occurs(both, table):
    """Else the comparison would say nothing of what is unknown."""
    for column in table.columns:
        values = {row[column.name] for row in both[0][table.name]}
        assert column.null or None not in values, column.name
        assert values - {None}, column.name


def test_what_is_not_known_occurs_and_is_null(both):
    """Else the comparison would say nothing of it."""
    absent = {
        (table, name)
        for table, rows in both[0].items()
        for row in rows
        for name, value in row.items()
        if value is None
    }
    assert absent >= {
        ("group_rollup", "lag_records_p99"),
        ("group_rollup", "lag_seconds_p50"),
        ("group_rollup", "worst_partition"),
        ("topic_rollup", "gini"),
        ("topic_rollup", "end_offset"),
        ("topic_rollup", "last_write_ms"),
        ("cluster_rollup", "lag_seconds_max"),
    }
    assert any(row["resets"] for row in both[0]["topic_rollup"])
    assert any(row["rewinds"] for row in both[0]["group_rollup"])
    assert any(row["samples"] < row["expected"] for row in both[0]["group_rollup"])


def test_partitions_beyond_the_bound_are_those_of_topics_that_took_least(spark):
    """(topic, partition, rose) of two periods; three partitions fit, topics stay whole."""
    rows = [
        *((at, "busy", p, 50) for at in (0, 1) for p in (0, 1)),
        *((0, topic, 0, rose) for topic, rose in (("idle", 0), ("new", None), ("some", 7))),
        *((1, "wide", p, 9) for p in (0, 1)),
    ]
    each = spark.createDataFrame(
        [
            ("c", topic, at * PERIOD_S * 1000, p, rose, None, 30_000, 1, 2, 3, 0, 10)
            for at, topic, p, rose in rows
        ],
        "cluster_id string, topic string, period_ms bigint, partition int, rose bigint,"
        " rose_bytes bigint, covered_ms bigint, start_offset bigint, end_offset bigint,"
        " bytes_last bigint, sampled_ms bigint, samples int",
    )
    periods = Periods(period_s=PERIOD_S, from_ms=0, to_ms=2 * PERIOD_S * 1000, rules=RULES)
    found = {
        (row.ts_ms // (PERIOD_S * 1000), row.topic): row
        for row in partition_rollup(each, periods, most=3).collect()
    }
    assert sorted(found) == [(0, "busy"), (0, "some"), (1, "busy")]
    busy = found[0, "busy"]
    assert (busy.shard, busy.partitions, busy.partition) == (0, 2, "0,1")
    assert (busy.records_in, busy.bytes_in, busy.end_offset) == ("50,50", ",", "2,2")


def test_hours_add_up(spark):
    """What came in within four periods is what came in within one of four times the length."""
    slices = [one for seed in (3, 5, 11) for one in world.slices(seed)]
    whole_s = 4 * PERIOD_S
    start = FROM_MS // (whole_s * 1000) * whole_s * 1000
    large = spark_rollups(
        spark, slices, from_ms=start, to_ms=start + whole_s * 1000, period_s=whole_s
    )
    small = spark_rollups(spark, slices, from_ms=start, to_ms=start + whole_s * 1000)
    assert large["topic_rollup"]
    for row in large["topic_rollup"]:
        parts = [r for r in small["topic_rollup"] if r["cluster_id"] == row["cluster_id"]]
        assert sum(r["records_in"] or 0 for r in parts) == (row["records_in"] or 0)
        assert sum(r["samples"] for r in parts) == row["samples"]
        assert max(r["bytes_max"] for r in parts) == row["bytes_max"]


def test_a_period_alone_gives_the_rows_that_it_has_among_others(spark, both):
    slices = [one for seed in WORLDS for one in world.slices(seed)]
    alone = spark_rollups(
        spark, slices, from_ms=FROM_MS + PERIOD_S * 1000, to_ms=FROM_MS + 2 * PERIOD_S * 1000
    )
    for table, rows in alone.items():
        mine = {
            key: row
            for key, row in keyed(table, both[0][table]).items()
            if row["ts_ms"] == FROM_MS + PERIOD_S * 1000 and row["cluster_id"].startswith("cl_")
        }
        assert keyed(table, rows) == mine
