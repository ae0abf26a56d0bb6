"""The Spark formulas against the slow reference, over random worlds."""

from __future__ import annotations

import itertools
import json

import pytest
from pyspark.sql import functions as F

from spark_analytics import quality, schemas
from spark_analytics.contracts.gold import GOLD_TABLES, GROUP_EXPIRY, GROUP_LAG, TOPIC_RETENTION
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method, Risk, Status, Trend
from spark_analytics.transforms import telemetry
from spark_analytics.transforms.group_expiry import group_expiry
from spark_analytics.transforms.group_lag import group_lag
from spark_analytics.transforms.offset_samples import offset_samples
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
    stands = positions(groups, topics, offset_samples(topics), rules, from_ms=F.lit(0)).persist()
    found = {
        GROUP_LAG: group_lag(stands, rules, from_ms=F.lit(0)),
        TOPIC_RETENTION: topic_retention(topics),
        GROUP_EXPIRY: group_expiry(stands, rules),
    }
    rows = {}
    for table, frame in found.items():
        assert frame.dtypes == [(column.name, column.type.value) for column in table.columns]
        rows[table.name] = [row.asDict() for row in frame.collect()]
    stands.unpersist()
    topics.unpersist()
    return rows


def keyed(rows):
    rows = list(rows)
    key = ("cluster_id", "topic", "group", "ts_ms")
    found = {tuple(row.get(name) for name in key): row for row in rows}
    assert len(found) == len(rows), "two rows of one key"
    return found


def topic_slice(at, end, **more):
    return {
        "v": 1,
        "kind": "topic",
        "cluster_id": "c",
        "topic": "t",
        "retention_ms": 3_600_000,
        "ts_ms": minute(at),
        "retention_bytes": -1,
        "partition": [0],
        "leader_epoch": [0],
        "log_start_offset": [0],
        "log_end_offset": [end],
        "size_bytes": [None if end is None else end * 10],
        "oldest_ts_ms": [world.START_MS - 60_000],
        **more,
    }


def group_slice(at, committed, end, **more):
    return {
        "v": 1,
        "kind": "group",
        "cluster_id": "c",
        "group": "g",
        "topic": "t",
        "ts_ms": minute(at),
        "state": "Stable",
        "members": 1,
        "partition": [0],
        "committed_offset": [committed],
        "log_start_offset": [0],
        "log_end_offset": [end],
        **more,
    }


def minute(number):
    return int(world.START_MS + number * 60_000)


TWO = {
    "partition": [0, 1],
    "leader_epoch": [0, 0],
    "log_start_offset": [0, 0],
    "size_bytes": [1000, 10],
    "oldest_ts_ms": [world.START_MS, world.START_MS],
}
PAIR = {"partition": [0, 1], "log_start_offset": [0, 0]}
CASES = {
    # 100 records a minute; the group stands where the log end was 4.5 minutes ago.
    "behind": [
        *(topic_slice(m, 100 * m + 1000) for m in range(11)),
        *(group_slice(m, 100 * m + 550, 100 * m + 1000) for m in range(11)),
    ],
    # Reads 30 of 100 records a minute.
    "falls-slowly": [
        *(topic_slice(m, 100 * m + 1000, retention_ms=86_400_000) for m in range(11)),
        *(group_slice(m, 30 * m + 900, 100 * m + 1000) for m in range(11)),
    ],
    "stopped": [
        *(topic_slice(m, 100 * m + 1000) for m in range(11)),
        *(group_slice(m, 1000, 100 * m + 1000, members=0) for m in range(11)),
    ],
    "before-history": [
        *(topic_slice(m, 100 * m + 1000) for m in range(2)),
        *(group_slice(m, 100 * m + 500, 100 * m + 1000) for m in range(2)),
    ],
    "end-unknown": [topic_slice(0, None), group_slice(0, 5, None)],
    "no-commit": [topic_slice(0, 50), group_slice(0, -1, 50)],
    "never-commits": [
        one for m in range(11) for one in (topic_slice(m, 50), group_slice(m, -1, 50))
    ],
    # Of two partitions one is committed and lost records, the other was never committed.
    "lost-and-uncommitted": [
        one
        for m in range(11)
        for one in (
            topic_slice(m, 0, **{**TWO, "log_start_offset": [500, 0]}, log_end_offset=[900, 50]),
            group_slice(
                *(m, 0, 0),
                **{**PAIR, "log_start_offset": [500, 0]},
                committed_offset=[200, -1],
                log_end_offset=[900, 50],
            ),
        )
    ],
    # Nobody is there, and at minute 8 the offsets are set back; nobody comes.
    "deserted-and-rewound": [
        one
        for m in range(14)
        for one in (
            topic_slice(m, 1000),
            group_slice(m, 1000 if m < 8 else 100, 1000, members=0, state="Empty"),
        )
    ],
    # Deleted and created again at minute 5: offsets begin again, the group's are gone with the old.
    "recreated": [
        *(topic_slice(m, 100 * m + 1000) for m in range(5)),
        *(topic_slice(m, 10 * m, oldest_ts_ms=[minute(5)]) for m in range(5, 11)),
        *(group_slice(m, 100 * m + 900, 100 * m + 1000) for m in range(5)),
        *(group_slice(m, 10 * m - 15, 10 * m) for m in range(5, 11)),
    ],
    "group-deleted": [
        *(topic_slice(m, 100 * m) for m in range(11)),
        *(group_slice(m, 100 * m, 100 * m) for m in range(6)),
    ],
    # A second partition from minute 5 on, that the group has not committed on yet.
    "partition-added": [
        *(topic_slice(m, 100 * m) for m in range(5)),
        *(topic_slice(m, 0, **TWO, log_end_offset=[100 * m, m]) for m in range(5, 11)),
        *(group_slice(m, 100 * m, 100 * m) for m in range(5)),
        *(
            group_slice(
                m, 0, 0, **PAIR, log_end_offset=[100 * m, m], committed_offset=[100 * m, -1]
            )
            for m in range(5, 11)
        ),
    ],
    # Retention went past the group: 300 of its records are gone.
    "data-lost": [
        *(topic_slice(m, 100 * m + 1000, log_start_offset=[500]) for m in range(11)),
        *(group_slice(m, 200, 100 * m + 1000, log_start_offset=[500]) for m in range(11)),
    ],
    # The collector's clock is set back by five minutes after minute 8.
    "clock-back": [
        one
        for m in range(14)
        for at in [m if m <= 8 else m - 4.5]
        for one in (topic_slice(at, 100 * m + 1000), group_slice(at, 100 * m + 900, 100 * m + 1000))
    ],
    # Nobody collected from minute 3 to 20; what came in between came nobody knows when.
    "gap": [
        one
        for m in [0, 1, 2, 3, 20, 21, 22]
        for one in (topic_slice(m, 100 * m + 1000), group_slice(m, 2000, 100 * m + 1000))
        if m > 3 or one["kind"] == "topic"
    ],
}


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


def of_cluster(cluster_id, slices):
    return [{**one, "cluster_id": cluster_id} for one in slices]


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
    topics = topic_snapshots(bronze(spark, slices, "topic"), RULES.window_s).persist()
    groups = group_snapshots(bronze(spark, slices, "group"), RULES.window_s)
    stands = positions(groups, topics, offset_samples(topics), RULES, from_ms=from_ms).persist()
    recent = stands.filter(F.col("window_ms") >= from_ms)
    found = {
        "group_lag": group_lag(stands, RULES, from_ms=from_ms),
        "group_expiry": group_expiry(recent, RULES),
    }
    for name, frame in found.items():
        rows = keyed(row.asDict() for row in frame.collect())
        assert len(rows) > 20
        assert rows == keyed(
            row
            for row in both[0][name]
            if row["ts_ms"] >= starts_ms.get(row["cluster_id"], row["ts_ms"] + 1)
        )
    stands.unpersist()
    topics.unpersist()


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


def test_no_data_gives_no_rows(spark):
    some = [topic_slice(0, 5), group_slice(0, 5, 5)]
    assert all(spark_gold(spark, some).values())
    topics, groups = (
        snapshots(bronze(spark, some, kind).filter("false"), RULES.window_s)
        for snapshots, kind in ((topic_snapshots, "topic"), (group_snapshots, "group"))
    )
    found = positions(groups, topics, offset_samples(topics), RULES, from_ms=F.lit(0))
    assert group_lag(found, RULES, from_ms=F.lit(0)).collect() == []
    assert group_expiry(found, RULES).collect() == []
    assert topic_retention(topics).collect() == []


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
    stored = {row["kafka_offset"]: row for row in telemetry.to_bronze(parsed).collect()}
    for number, (value, fault) in enumerate(FAULTS):
        if fault is None:
            kind = json.loads(value)["kind"]
            assert (stored[number]["part"], stored[number]["value"]) == (kind, None)
        else:
            assert (stored[number]["part"], stored[number]["value"]) == ("rejected", value)
