"""The Spark formulas against the slow reference, over random worlds."""

from __future__ import annotations

import itertools
import json

import pytest
from pyspark.sql import functions as F

from spark_analytics import contracts, quality, schemas
from spark_analytics.contracts import Rules
from spark_analytics.transforms import telemetry
from spark_analytics.transforms.group_expiry import group_expiry
from spark_analytics.transforms.group_lag import group_lag
from spark_analytics.transforms.knots import log_end_knots
from spark_analytics.transforms.positions import positions
from spark_analytics.transforms.snapshots import group_snapshots, topic_snapshots
from spark_analytics.transforms.topic_retention import topic_retention
from tests.spark_analytics import reference, world

pytestmark = pytest.mark.spark
RULES = Rules()
SEEDS = range(40)


def bronze(spark, slices, kind):
    rows = [(json.dumps(one), number) for number, one in enumerate(slices) if one["kind"] == kind]
    return (
        spark.createDataFrame(rows, "value string, kafka_offset long")
        .withColumn("parsed", F.from_json("value", schemas.TELEMETRY_VALUE))
        .select("parsed.*", "kafka_offset")
    )


def spark_gold(spark, slices, rules=RULES):
    topics = topic_snapshots(bronze(spark, slices, "topic"), rules.window_s).persist()
    groups = group_snapshots(bronze(spark, slices, "group"), rules.window_s)
    stands = positions(groups, topics, log_end_knots(topics), rules).persist()
    found = {
        "group_lag": group_lag(stands, rules),
        "topic_retention": topic_retention(topics),
        "group_expiry": group_expiry(stands, rules),
    }
    rows = {name: [row.asDict() for row in table.collect()] for name, table in found.items()}
    for name, table in found.items():
        assert table.schema.simpleString() == schemas.GOLD[name].simpleString()
        assert tuple(table.columns) == contracts.GOLD_TABLES[name]
    stands.unpersist()
    topics.unpersist()
    return rows


def keyed(rows):
    rows = list(rows)
    key = ("cluster_id", "topic", "group", "ts_ms")
    found = {tuple(row.get(name) for name in key): row for row in rows}
    assert len(found) == len(rows), "two rows of one key"
    return found


def topic_slice(minute, end, **more):
    return {
        "v": 1,
        "kind": "topic",
        "cluster_id": "c",
        "topic": "t",
        "retention_ms": 3_600_000,
        "ts_ms": world.START_MS + minute * 60_000,
        "retention_bytes": -1,
        "partition": [0],
        "leader_epoch": [0],
        "log_start_offset": [0],
        "log_end_offset": [end],
        "size_bytes": [None if end is None else end * 10],
        "oldest_ts_ms": [world.START_MS - 60_000],
        **more,
    }


def group_slice(minute, committed, end, **more):
    return {
        "v": 1,
        "kind": "group",
        "cluster_id": "c",
        "group": "g",
        "topic": "t",
        "ts_ms": world.START_MS + minute * 60_000,
        "state": "Stable",
        "members": 1,
        "partition": [0],
        "committed_offset": [committed],
        "log_start_offset": [0],
        "log_end_offset": [end],
        **more,
    }


CASES = {
    # 100 records a minute; the group stands where the log end was 4.5 minutes ago.
    "behind": [
        *(topic_slice(m, 100 * m + 1000) for m in range(11)),
        *(group_slice(m, 100 * m + 550, 100 * m + 1000) for m in range(11)),
    ],
    "before-history": [
        *(topic_slice(m, 100 * m + 1000) for m in range(2)),
        *(group_slice(m, 100 * m + 500, 100 * m + 1000) for m in range(2)),
    ],
    "end-unknown": [topic_slice(0, None), group_slice(0, 5, None)],
    "no-commit": [topic_slice(0, 50), group_slice(0, -1, 50)],
}


@pytest.fixture(scope="module")
def both(spark):
    """One Spark pass over every random world and every told case (a cluster each), and what the
    reference says of the random ones."""
    worlds = [world.slices(seed) for seed in SEEDS]
    doubled = world.slices(7, cluster_id="doubled")
    told = [one for case, slices in CASES.items() for one in of_cluster(case, slices)]
    actual = spark_gold(spark, [*itertools.chain(*worlds), *doubled, *doubled, *told])
    expected = {name: [] for name in contracts.GOLD_TABLES}
    for slices in worlds:
        for name, rows in reference.gold(slices, RULES).items():
            expected[name] += rows
    return actual, expected


def of_cluster(cluster_id, slices):
    return [{**one, "cluster_id": cluster_id} for one in slices]


def last(both, table, cluster_id):
    rows = [row for row in both[0][table] if row["cluster_id"] == cluster_id]
    return max(rows, key=lambda row: row["ts_ms"])


@pytest.mark.parametrize("table", list(contracts.GOLD_TABLES))
def test_gold_equals_the_reference(both, table):
    worlds = {f"cl_{seed}" for seed in SEEDS}
    actual = keyed(row for row in both[0][table] if row["cluster_id"] in worlds)
    expected = keyed(both[1][table])
    assert actual.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            if name == "method" and table == "group_lag" and row["lag_seconds"] is not None:
                # Two partitions of equal age: either one's method is true.
                assert actual[key][name] is not None
                continue
            got = actual[key][name]
            if isinstance(value, float):
                assert got == pytest.approx(value, rel=1e-9, abs=1e-6), (key, name)
            else:
                assert got == value, (key, name, row, actual[key])


def test_every_status_risk_and_method_occurs(both):
    """Else the comparison would prove little."""
    lags, risks = both[1]["group_lag"], both[1]["group_expiry"]
    assert {row["status"] for row in lags} == {str(status) for status in contracts.Status}
    assert {row["method"] for row in lags} >= {str(method) for method in contracts.Method}
    assert {row["trend"] for row in lags} == {str(trend) for trend in contracts.Trend}
    assert {row["status"] for row in risks} == {str(risk) for risk in contracts.Risk}


def test_twice_the_same_input_counts_once(both):
    for rows in both[0].values():
        once = [row for row in rows if row["cluster_id"] == "cl_7"]
        twice = [row for row in rows if row["cluster_id"] == "doubled"]
        assert keyed(once) == keyed(of_cluster("cl_7", twice))


def test_a_group_behind_by_known_minutes(both):
    row = last(both, "group_lag", "behind")
    assert row["lag_records"] == 450
    assert row["lag_seconds"] == pytest.approx(270)
    assert (row["method"], row["trend"], row["status"]) == ("interpolated", "steady", "LAGGING")
    expiry = last(both, "group_expiry", "behind")
    assert expiry["oldest_unread_expires_in_s"] == pytest.approx(3600 - 270)
    assert expiry["status"] == "AT_RISK"
    held = last(both, "topic_retention", "behind")
    assert (held["bytes"], held["records"], held["age_seconds"]) == (20_000, 2000, 660)


def test_before_the_oldest_knot_nothing_is_made_up(both):
    row = last(both, "group_lag", "before-history")
    assert row["lag_records"] == 500
    assert (row["lag_seconds"], row["method"]) == (None, "out_of_history")
    assert row["lag_seconds_at_least"] == 60
    assert row["status"] == "UNKNOWN"


def test_an_unknown_log_end_leaves_no_number(both):
    lag, held = last(both, "group_lag", "end-unknown"), last(both, "topic_retention", "end-unknown")
    expiry = last(both, "group_expiry", "end-unknown")
    assert (lag["lag_records"], lag["lag_seconds"], lag["status"]) == (None, None, "UNKNOWN")
    assert (held["bytes"], held["records"]) == (None, None)
    assert (expiry["oldest_unread_expires_in_s"], expiry["status"]) == (None, "UNKNOWN")


def test_a_partition_without_commit_is_not_lag_zero(both):
    row = last(both, "group_lag", "no-commit")
    assert (row["lag_records"], row["method"], row["status"]) == (None, "no_commit", "NO_COMMIT")


GOOD = {**topic_slice(0, 5)}
FAULTS = [
    ("{not json", "unreadable"),
    ("[]", "unreadable"),
    (json.dumps({**GOOD, "v": 2}), "unknown_kind"),
    (json.dumps({**GOOD, "kind": "share"}), "unknown_kind"),
    (json.dumps({**GOOD, "cluster_id": "somebody-else"}), "foreign_cluster"),
    (json.dumps({**GOOD, "topic": None}), "nameless"),
    (json.dumps({**group_slice(0, 1, 2), "group": None}), "nameless"),
    (json.dumps({**GOOD, "ts_ms": None}), "clock"),
    (json.dumps({**GOOD, "ts_ms": world.START_MS + 10**7}), "clock"),
    (json.dumps({**GOOD, "partition": []}), "empty"),
    (json.dumps({**GOOD, "partition": None}), "ragged_arrays"),
    (json.dumps({**GOOD, "size_bytes": [1, 2]}), "ragged_arrays"),
    (json.dumps({**group_slice(0, 1, 2), "committed_offset": None}), "ragged_arrays"),
    (json.dumps({**GOOD, "log_start_offset": [9]}), "offsets"),
    (json.dumps({**GOOD, "partition": [-1]}), "offsets"),
    (json.dumps(GOOD), None),
    (json.dumps(group_slice(0, -1, None)), None),
]


def test_each_fault_is_named_and_keeps_its_record(spark):
    records = spark.createDataFrame(
        [(bytes(value, "utf-8"), 0, number) for number, (value, _) in enumerate(FAULTS)],
        "value binary, partition int, offset long",
    ).withColumn("timestamp", F.timestamp_millis(F.lit(world.START_MS)))
    parsed = telemetry.parse(records, quality.fault("c")).persist()
    found = {row["kafka_offset"]: row for row in parsed.collect()}
    for number, (value, fault) in enumerate(FAULTS):
        assert (found[number]["fault"], found[number]["value"]) == (fault, value)
    assert telemetry.rejected(parsed).count() == len(FAULTS) - 2
    assert telemetry.believed(parsed, "topic").count() == 1
    assert telemetry.believed(parsed, "group").count() == 1
