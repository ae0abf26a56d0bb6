"""The Spark formulas against the slow reference, over random worlds."""

from __future__ import annotations

import dataclasses
import itertools
import json

import pytest
from pyspark.sql import functions as F

from spark_analytics import quality, schemas
from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method, Risk, Status, Trend
from spark_analytics.contracts.telemetry import CHUNKS_MAX
from spark_analytics.transforms import telemetry
from spark_analytics.transforms.judging import gold
from spark_analytics.transforms.snapshots import group_slices, topic_slices
from tests.spark_analytics import reference, world
from tests.spark_analytics.cases import CASES, group_slice, minute, of_cluster, topic_slice

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


def spark_gold(spark, slices, rules=RULES, *, from_ms=None):
    topics = topic_slices(bronze(spark, slices, "topic"), rules.window_s)
    groups = group_slices(bronze(spark, slices, "group"), rules.window_s)
    found = gold(topics, groups, rules, from_ms=F.lit(0) if from_ms is None else from_ms).persist()
    rows = {}
    for name, table in GOLD_TABLES.items():
        frame = found.filter(F.col(name).isNotNull()).select(f"{name}.*")
        assert frame.dtypes == [(column.name, column.type.value) for column in table.columns]
        rows[name] = [row.asDict() for row in frame.collect()]
    found.unpersist()
    return rows


def keyed(rows):
    rows = list(rows)
    key = ("cluster_id", "topic", "group", "ts_ms")
    found = {tuple(row.get(name) for name in key): row for row in rows}
    assert len(found) == len(rows), "two rows of one key"
    return found


@pytest.fixture(scope="module")
def both(spark):
    """One Spark pass over every random world and every listed case (a cluster each), and what the
    reference says of the random ones."""
    worlds = [world.slices(seed) for seed in SEEDS]
    doubled = world.slices(7, cluster_id="doubled")
    listed = [one for case, slices in CASES.items() for one in of_cluster(case, slices)]
    actual = spark_gold(spark, [*itertools.chain(*worlds), *doubled, *doubled, *listed])
    expected = {name: [] for name in GOLD_TABLES}
    for slices in worlds:
        for name, rows in reference.gold(slices, RULES).items():
            expected[name] += rows
    for name, rows in reference.gold(listed, RULES).items():
        expected[name] += rows
    return actual, expected


def last(both, table, cluster_id):
    rows = [row for row in both[0][table] if row["cluster_id"] == cluster_id]
    return max(rows, key=lambda row: row["ts_ms"])


@pytest.mark.parametrize("table", list(GOLD_TABLES))
def test_gold_equals_the_reference(both, table):
    worlds = {f"cl_{seed}" for seed in SEEDS} | CASES.keys()
    actual = keyed(row for row in both[0][table] if row["cluster_id"] in worlds)
    expected = keyed(both[1][table])
    assert actual.keys() == expected.keys()
    for key, row in expected.items():
        assert row.keys() == actual[key].keys()
        for name, value in row.items():
            got = actual[key][name]
            if isinstance(value, float):
                assert got == pytest.approx(value, rel=1e-9, abs=1e-6), (key, name)
            elif name == "method":
                assert got in value, (key, row, actual[key])
            else:
                assert got == value, (key, name, row, actual[key])


@pytest.mark.parametrize("table", GOLD_TABLES.values(), ids=lambda table: table.name)
def test_a_column_holds_what_the_contract_allows(both, table):
    rows = both[0][table.name]
    assert rows
    for column in table.columns:
        values = {row[column.name] for row in rows}
        assert column.null or None not in values, column.name
        if column.several:
            values = {word for value in values for word in value.split(",") if word}
        if column.choices:
            assert values <= {None, *map(str, column.choices)}, column.name


def test_every_status_risk_and_method_occurs(both):
    """Else the comparison would prove little."""
    lags, risks = both[1]["group_lag"], both[1]["group_expiry"]
    assert {row["status"] for row in lags} == {str(status) for status in Status}
    assert set().union(*(row["method"] for row in lags)) >= set(map(str, Method))
    assert {row["trend"] for row in lags} == {str(trend) for trend in Trend}
    assert {row["status"] for row in risks} == {str(risk) for risk in Risk}


@pytest.mark.parametrize("table", list(GOLD_TABLES))
def test_twice_the_same_input_counts_once(both, table):
    once = [row for row in both[0][table] if row["cluster_id"] == "cl_7"]
    twice = [row for row in both[0][table] if row["cluster_id"] == "doubled"]
    assert len(once) > 20
    assert keyed(once) == keyed(of_cluster("cl_7", twice))


def test_a_range_gives_the_same_rows_as_all_windows(spark, both):
    """Rates are computed of the windows in range alone; trends look back before it."""
    slices = [one for seed in (3, 7) for one in world.slices(seed)]
    start_ms = world.START_MS + 8 * 60_000
    # The other cluster begins later.
    starts_ms = {"cl_3": start_ms, "cl_7": start_ms + 120_000}
    from_ms = F.when(F.col("cluster_id") == "cl_7", starts_ms["cl_7"]).otherwise(start_ms)
    found = spark_gold(spark, slices, from_ms=from_ms)
    for name, some in found.items():
        rows = keyed(some)
        assert len(rows) > 20
        assert rows == keyed(
            row
            for row in both[0][name]
            if row["ts_ms"] >= starts_ms.get(row["cluster_id"], row["ts_ms"] + 1)
        )


def test_a_group_behind_by_known_minutes(both):
    row = last(both, "group_lag", "behind")
    assert row["lag_records"] == 450
    assert row["lag_seconds"] == pytest.approx(270)
    assert (row["method"], row["trend"], row["status"]) == ("interpolated", "steady", "LAGGING")
    expiry = last(both, "group_expiry", "behind")
    assert expiry["oldest_unread_expires_in_s"] == pytest.approx(3600 - 270)
    assert (expiry["first_loss_in_s"], expiry["status"]) == (None, "SAFE")
    held = last(both, "topic_retention", "behind")
    assert (held["bytes"], held["records"], held["age_seconds"]) == (20_000, 2000, 660)


def test_loss_begins_when_the_growing_lag_reaches_what_is_kept(both):
    expiry = last(both, "group_expiry", "falls-slowly")
    left_s = expiry["oldest_unread_expires_in_s"]
    assert expiry["first_loss_in_s"] == pytest.approx(left_s / 0.7)
    assert expiry["status"] == "WATCH"


def test_a_stopped_group_loses_its_oldest_unread_record_first(both):
    expiry = last(both, "group_expiry", "stopped")
    assert expiry["first_loss_in_s"] == expiry["oldest_unread_expires_in_s"]
    assert expiry["first_loss_in_s"] == pytest.approx(3000)
    assert expiry["status"] == "WATCH"


def test_before_the_oldest_sample_nothing_is_made_up(both):
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
    assert (row["uncommitted_partitions"], row["uncommitted_records"]) == (1, 50)
    assert row["reasons"] == ""


def test_members_that_never_commit_are_warned_of(both):
    statuses = [
        row["status"]
        for row in sorted(both[0]["group_lag"], key=lambda row: row["ts_ms"])
        if row["cluster_id"] == "never-commits"
    ]
    assert statuses == ["NO_COMMIT"] * 5 + ["NOT_COMMITTING"] * 6


def test_lost_records_come_before_everything(both):
    row = last(both, "group_lag", "lost-and-uncommitted")
    assert (row["lost_records"], row["status"]) == (300, "DATA_LOST")
    assert (row["lag_records"], row["uncommitted_records"]) == (700, 50)
    assert row["reasons"] == "PARTIAL_COMMIT"


def test_a_deserted_group_that_was_set_back_says_so(both):
    rows = sorted(
        (row for row in both[0]["group_lag"] if row["cluster_id"] == "deserted-and-rewound"),
        key=lambda row: row["ts_ms"],
    )
    assert [row["status"] for row in rows[4:]] == ["CAUGHT_UP"] * 4 + ["REWOUND"] * 5 + ["STOPPED"]
    assert {row["reasons"] for row in rows[8:]} == {"REWOUND"}


def test_a_recreated_topic_begins_its_history_again(both):
    row = last(both, "group_lag", "recreated")
    assert row["lag_records"] == 15
    assert row["lag_seconds"] == pytest.approx(90)
    assert row["lost_records"] == 0
    assert last(both, "topic_retention", "recreated")["records"] == 100


@pytest.mark.parametrize("case", ["recreated-with-ids", "cut"])
def test_what_comes_after_does_not_rewrite_the_past(spark, both, case):
    """As when it was computed at minute 4, before anybody could know."""
    early = spark_gold(spark, [one for one in CASES[case] if one["ts_ms"] < minute(5)])
    for table, rows in early.items():
        past = [
            {**row, "cluster_id": "c"}
            for row in both[0][table]
            if row["cluster_id"] == case and row["ts_ms"] < minute(5)
        ]
        assert keyed(past) == keyed(rows)
    lags = [row["lag_seconds"] for row in early["group_lag"]]
    assert sum(lag is not None for lag in lags) >= 3


def test_a_topic_that_is_created_again_has_no_rates_of_the_one_before(both):
    rows = [row for row in both[0]["group_lag"] if row["cluster_id"] == "recreated-with-ids"]
    first, second, *_ = sorted(
        (r for r in rows if r["ts_ms"] >= minute(5)), key=lambda r: r["ts_ms"]
    )
    assert (first["produce_records_per_s"], first["trend"]) == (None, "unknown")
    assert second["produce_records_per_s"] == pytest.approx(10 / 60, abs=1e-6)
    assert {row["reasons"] for row in rows} == {""}


def test_below_a_cut_times_are_known_and_above_it_begin_again(both):
    rows = {row["ts_ms"]: row for row in both[0]["group_lag"] if row["cluster_id"] == "cut"}
    after = [row for ts_ms, row in sorted(rows.items()) if ts_ms >= minute(5)]
    # Record 1050 came in the first minute, between the samples of 1000 and 1100 records.
    assert [row["lag_seconds"] for row in after] == [
        pytest.approx(60 * (m - 0.5), abs=0.1) for m in range(5, 11)
    ]


def test_a_deleted_group_has_no_more_rows(both):
    minutes = world.START_MS + 5 * 60_000
    assert last(both, "group_lag", "group-deleted")["sampled_ms"] == minutes
    assert last(both, "topic_retention", "group-deleted")["sampled_ms"] > minutes


def test_a_partition_added_in_the_middle_is_counted_beside_the_lag(both):
    row = last(both, "group_lag", "partition-added")
    assert (row["partitions"], row["lag_records"], row["status"]) == (2, 0, "NOT_COMMITTING")
    assert (row["uncommitted_partitions"], row["uncommitted_records"]) == (1, 10)
    assert row["reasons"] == "PARTIAL_COMMIT"
    assert last(both, "topic_retention", "partition-added")["records"] == 1010


def test_records_lost_to_retention_are_counted(both):
    row, risk = last(both, "group_lag", "data-lost"), last(both, "group_expiry", "data-lost")
    assert (row["lost_records"], row["status"]) == (300, "DATA_LOST")
    assert (risk["lost_records"], risk["status"]) == (300, "LOSING")


def test_a_clock_set_back_makes_nothing_negative(both):
    rows = [row for row in both[0]["group_lag"] if row["cluster_id"] == "clock-back"]
    assert {row["sampled_ms"] for row in rows} >= {minute(8), minute(4.5), minute(8.5)}
    for row in rows:
        assert row["lag_records"] == 100
        assert row["lag_seconds"] is None or row["lag_seconds"] >= 0
        assert row["lag_seconds_at_least"] >= 0
    assert any(row["lag_seconds"] is not None for row in rows)


def test_what_came_while_nobody_collected_is_not_given_a_time(both):
    rows = [row for row in both[0]["group_lag"] if row["cluster_id"] == "gap"]
    assert sorted(row["sampled_ms"] for row in rows) == [minute(20), minute(21), minute(22)]
    row = last(both, "group_lag", "gap")
    assert (row["lag_records"], row["lag_seconds"], row["method"]) == (1200, None, "out_of_history")
    # It was there when the collector came back, two minutes before.
    assert row["lag_seconds_at_least"] == 120


def test_a_group_that_is_born_again_has_nothing_of_the_one_before(both):
    rows = [row for row in both[0]["group_lag"] if row["cluster_id"] == "born-again"]
    rows.sort(key=lambda row: row["sampled_ms"])
    assert [row["sampled_ms"] for row in rows] == [minute(m) for m in [*range(6), *range(18, 24)]]
    again = rows[6:]
    assert [row["status"] for row in again[:3]] == ["UNKNOWN"] * 3
    assert {row["reasons"] for row in again} == {""}, "it did not go back, it is another one"
    assert [row["lag_records"] for row in again] == [100 * m + 1000 for m in range(18, 24)]


def test_gaps_of_compaction_are_lag_and_no_loss(both):
    lag, risk = last(both, "group_lag", "compacted"), last(both, "group_expiry", "compacted")
    assert (lag["lag_records"], lag["lost_records"]) == (300, 0)
    assert lag["lag_seconds"] == pytest.approx(180)
    assert (risk["status"], risk["first_loss_in_s"]) == ("SAFE", None)
    assert risk["oldest_unread_expires_in_s"] is None


def test_a_marker_counts_as_a_record_unless_that_much_is_allowed(spark, both):
    """Telemetry cannot tell one from the other: lag is an upper bound."""
    row = last(both, "group_lag", "marker-at-the-end")
    assert (row["lag_records"], row["status"]) == (1, "STALLED")
    slices = CASES["marker-at-the-end"]
    allowed = spark_gold(spark, slices, dataclasses.replace(RULES, allowed_lag_records=1))
    newest = max(allowed["group_lag"], key=lambda row: row["ts_ms"])
    assert (newest["lag_records"], newest["status"]) == (1, "CAUGHT_UP")


def test_no_data_gives_no_rows(spark):
    some = [topic_slice(0, 5), group_slice(0, 5, 5)]
    assert all(spark_gold(spark, some).values())
    topics, groups = (
        slices(bronze(spark, some, kind).filter("false"), RULES.window_s)
        for slices, kind in ((topic_slices, "topic"), (group_slices, "group"))
    )
    assert gold(topics, groups, RULES, from_ms=F.lit(0)).collect() == []


GOOD = {**topic_slice(0, 5)}
FAULTS = [
    ("{not json", "unreadable"),
    ("[]", "unreadable"),
    (json.dumps({**GOOD, "v": 3}), "unknown_kind"),
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
    # Neither a whole slice nor a part of one.
    (json.dumps({**GOOD, "v": 2}), "chunks"),
    (json.dumps({**GOOD, "chunk": 0, "chunks": 2}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunk": 0}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunks": 1}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunk": 2, "chunks": 2}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunk": -1, "chunks": 2}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunk": 0, "chunks": CHUNKS_MAX + 1}), "chunks"),
    (json.dumps({**GOOD, "v": 2, "chunk": 1, "chunks": 2}), None),
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
    stored = {row["kafka_offset"]: row for row in telemetry.to_bronze(parsed, "c").collect()}
    for number, (value, fault) in enumerate(FAULTS):
        if fault is None:
            kind = json.loads(value)["kind"]
            assert (stored[number]["part"], stored[number]["value"]) == (kind, None)
        else:
            assert (stored[number]["part"], stored[number]["value"]) == ("rejected", value)
