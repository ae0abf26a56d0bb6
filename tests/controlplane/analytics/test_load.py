"""Gold files into SQL: all of a run or nothing of it."""

from __future__ import annotations

import pytest

from controlplane.analytics.load import MODELS, LoadError, load_result
from controlplane.analytics.models import (
    AnalyticsRun,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    RunCluster,
)
from controlplane.operations.states import CANCELLED, RUNNING, SUCCEEDED
from spark_analytics.contracts.gold import ROLLUP_TABLES
from spark_analytics.contracts.runs import ClusterResult, Job
from tests.controlplane.analytics import rows
from tests.controlplane.analytics.rollup_rows import HOUR_MS, T0_MS, rollup_row, stored

pytestmark = pytest.mark.django_db
GOLD = (GoldGroupLag, GoldTopicRetention, GoldGroupExpiry)


def done(cluster_id, **more):
    return ClusterResult(cluster_id=cluster_id, offsets_end={"0": 7}, records_in=7, **more)


def contents(model):
    return sorted(model.objects.exclude(pk=None).values_list("cluster_id", "ts_ms", "run_id"))


def load(tmp_path, name, gold, *clusters, **fields):
    run = rows.running(tmp_path / name, **fields)
    assert load_result(run, rows.finished(run, gold, *clusters))
    run.refresh_from_db()
    return run


def test_rows_and_run_go_in_together(tmp_path):
    gaps = {"records_skipped": 5, "telemetry_recreated": True}
    run = load(tmp_path, "one", rows.whole_range("a"), done("a", **gaps))
    assert run.state == SUCCEEDED
    assert (run.rows_in, run.rows_out, run.wall_s) == (7, 12, 12.5)
    assert [len(contents(model)) for model in GOLD] == [4, 4, 4]
    (stored,) = RunCluster.objects.filter(run=run).values("offsets_end", *gaps)
    assert stored == {"offsets_end": {"0": 7}, **gaps}
    lag = GoldGroupLag.objects.first()
    assert (lag.group, lag.lag_seconds, lag.eta_seconds) == ("g", 1.5, None)


def test_the_same_range_again_replaces_and_leaves_the_rest(tmp_path):
    load(tmp_path, "one", rows.whole_range("a"), done("a"))
    later = {"from_ts_ms": rows.T0_MS + 2 * rows.WINDOW_MS, "to_ts_ms": rows.T0_MS + 60_000 * 3}
    fresh = rows.lag_row("a", rows.T0_MS + 2 * rows.WINDOW_MS, lag_records=99)
    second = load(tmp_path, "two", {"group_lag": [fresh]}, done("a"), **later)
    assert list(GoldGroupLag.objects.order_by("ts_ms").values_list("lag_records", flat=True)) == [
        10,
        10,
        99,
    ]
    assert GoldGroupLag.objects.get(lag_records=99).run_id == second.pk
    assert GoldTopicRetention.objects.count() == 2


def test_each_cluster_is_replaced_from_its_own_start(tmp_path):
    both = {
        table: rows.whole_range("a")[table] + rows.whole_range("b")[table]
        for table in rows.whole_range("a")
    }
    load(tmp_path, "one", both, done("a"), done("b"))
    late_ms = rows.T0_MS + 3 * rows.WINDOW_MS
    late = ClusterResult(cluster_id="b", from_ts_ms=late_ms)
    fresh = {**rows.whole_range("a"), "group_lag": [rows.lag_row("b", late_ms, lag_records=99)]}
    load(tmp_path, "two", fresh, done("a"), late)
    assert GoldGroupLag.objects.filter(cluster_id="a").count() == 0
    found = GoldGroupLag.objects.filter(cluster_id="b").order_by("ts_ms")
    assert list(found.values_list("lag_records", flat=True)) == [10, 10, 10, 99]


def test_a_row_before_its_cluster_s_start_is_refused(tmp_path):
    late = ClusterResult(cluster_id="a", from_ts_ms=rows.T0_MS + rows.WINDOW_MS)
    run = rows.running(tmp_path / "one")
    with pytest.raises(LoadError, match="outside the run's range"):
        load_result(run, rows.finished(run, rows.whole_range("a"), late))


def test_a_cluster_that_failed_keeps_what_it_had(tmp_path):
    both = {
        table: rows.whole_range("a")[table] + rows.whole_range("b")[table]
        for table in rows.whole_range("a")
    }
    load(tmp_path, "one", both, done("a"), done("b"))
    failed = ClusterResult(cluster_id="b", error="no broker answered")
    run = load(tmp_path, "two", rows.whole_range("a"), done("a"), failed)
    assert GoldGroupLag.objects.filter(cluster_id="b").count() == 4
    assert "b: no broker answered" in run.error


@pytest.mark.parametrize(
    "spoil",
    [
        lambda gold: gold["group_expiry"].append(dict(gold["group_expiry"][0])),
        lambda gold: gold["group_lag"][1].update(ts_ms=rows.T0_MS - rows.WINDOW_MS),
        lambda gold: gold["group_lag"][1].update(cluster_id="somebody-else"),
        lambda gold: gold["topic_retention"][3].pop("bytes"),
        lambda gold: gold["group_expiry"][2].update(status=None),
    ],
)
def test_a_bad_file_leaves_the_old_run(tmp_path, spoil):
    load(tmp_path, "one", rows.whole_range("a"), done("a"))
    before = [contents(model) for model in GOLD]
    gold = rows.whole_range("a", lag_records=1)
    spoil(gold)
    run = rows.running(tmp_path / "two")
    with pytest.raises(LoadError):
        load_result(run, rows.finished(run, gold, done("a")))
    run.refresh_from_db()
    assert run.state == RUNNING
    assert [contents(model) for model in GOLD] == before


def test_fewer_rows_than_promised_is_refused(tmp_path):
    run = rows.running(tmp_path / "one")
    result = rows.finished(run, rows.whole_range("a"), done("a"))
    (tmp_path / "one" / "topic_retention.jsonl").write_text("")
    with pytest.raises(LoadError, match="0 rows, not 4"):
        load_result(run, result)
    assert GoldGroupLag.objects.count() == 0


def test_a_missing_file_is_refused(tmp_path):
    run = rows.running(tmp_path / "one")
    result = rows.finished(run, rows.whole_range("a"), done("a"))
    (tmp_path / "one" / "group_lag.jsonl").unlink()
    with pytest.raises(LoadError):
        load_result(run, result)


def test_a_cancelled_run_is_not_loaded(tmp_path):
    run = rows.running(tmp_path / "one")
    result = rows.finished(run, rows.whole_range("a"), done("a"))
    AnalyticsRun.objects.filter(pk=run.pk).update(state=CANCELLED)
    assert not load_result(run, result)
    assert GoldGroupLag.objects.count() == 0


def hourly(tmp_path, samples):
    """A run over three hours; `samples` of each hour of cluster a, none where it saw nothing."""
    gold = {
        table: [
            rollup_row(table, "a", at, samples=count)
            for at, count in enumerate(samples)
            if count is not None
        ]
        for table in ROLLUP_TABLES
    }
    span = {"from_ts_ms": T0_MS, "to_ts_ms": T0_MS + 3 * HOUR_MS}
    return load(tmp_path, "hours", gold, done("a"), job=Job.HOURLY, **span)


def samples_of(table, cluster_id="a"):
    rows_ = MODELS[table].objects.filter(cluster_id=cluster_id).order_by("ts_ms")
    return [(row.samples, row.run_id == "run_x") for row in rows_]


def test_a_period_that_was_computed_from_more_samples_is_kept(tmp_path):
    """Silver has forgotten the first hour, lost half of the second, and has more of the third."""
    for table in ROLLUP_TABLES:
        for at, count in enumerate((120, 120, 60)):
            stored(table, "a", at, samples=count)
        stored(table, "b", 0, samples=120)
    run = hourly(tmp_path, (None, 55, 118))
    for table in ROLLUP_TABLES:
        assert samples_of(table) == [(120, True), (120, True), (118, False)]
        assert samples_of(table, "b") == [(120, True)]
    assert run.state == SUCCEEDED
    assert run.error == "kept 2 periods that were computed from more samples"


def test_periods_of_as_many_samples_are_computed_again(tmp_path):
    for table in ROLLUP_TABLES:
        for at in range(3):
            stored(table, "a", at, samples=100)
    run = hourly(tmp_path, (100, 100, 101))
    assert run.error == ""
    for table in ROLLUP_TABLES:
        assert samples_of(table) == [(100, False), (100, False), (101, False)]


@pytest.mark.parametrize("of", ["lag_samples", "bytes_samples", "topics", "groups"])
def test_a_period_of_as_many_windows_in_which_less_was_seen_is_kept(tmp_path, of):
    """Every window has a sample of something: what is gone shows in what there was of it."""
    for table in ROLLUP_TABLES:
        stored(table, "a", 0, samples=120, **({of: 9} if table == "cluster_rollup" else {}))
    gold = {
        table: [
            rollup_row(table, "a", 0, samples=120, **({of: 8} if table == "cluster_rollup" else {}))
        ]
        for table in ROLLUP_TABLES
    }
    span = {"from_ts_ms": T0_MS, "to_ts_ms": T0_MS + HOUR_MS}
    run = load(tmp_path, "hour", gold, done("a"), job=Job.HOURLY, **span)
    assert run.error == "kept 1 periods that were computed from more samples"
    assert all(samples_of(table) == [(120, True)] for table in ROLLUP_TABLES)
