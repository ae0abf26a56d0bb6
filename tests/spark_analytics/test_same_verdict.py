"""Spark's judgement and the collector's, on the same telemetry, directly beside each other.

Each is compared with the slow reference elsewhere; here nothing stands between them. What a task of
Spark's computes is asked without Spark for any world, and through Spark for some of them.
"""

from __future__ import annotations

import collections
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane.analytics.verdicts.evaluator import Evaluator
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Method, Risk, Status, Trend
from tests.spark_analytics import tables, world
from tests.spark_analytics.cases import CASES, group_slice, minute, of_cluster, topic_slice
from tests.spark_analytics.test_transforms import keyed, spark_gold

RULES = Rules()
WINDOW_MS = RULES.window_s * 1000
SEEDS = range(1_000, 1_030)
# A clock that is set back gives two samples of one instant, and the order in which they were taken
# is not in what they say; a topic that is created again without ids is known as such by what comes
# after it alone, which the collector does not have yet.
HINDSIGHT = {"clock-back", "recreated"}
EQUAL = {
    "group_lag": (
        *("partitions", "lag_records", "uncommitted_partitions", "uncommitted_records"),
        *("trend", "lost_records", "members", "state", "status", "method"),
    ),
    "group_expiry": ("status", "method"),
}
# Spark rounds sums of rates to the millionth, so that their order does not matter.
CLOSE = {
    "group_lag": (
        *("lag_seconds", "lag_seconds_at_least", "trend_records_per_s", "eta_seconds"),
        *("produce_records_per_s", "consume_records_per_s"),
    ),
    "group_expiry": ("oldest_unread_expires_in_s", "first_loss_in_s"),
}
OF_A_RISK = {"status": "risk", "method": "expiry_method"}
"""What a verdict calls the columns of `group_expiry`."""


def verdicts_of(slices):
    """(cluster, topic, group, window) → the last verdict of each window, fed sample by sample."""
    evaluator, found = Evaluator(RULES, history_is_whole=True), {}
    ordered = sorted(slices, key=lambda one: one["ts_ms"])
    for ts_ms, sample in itertools.groupby(ordered, key=lambda one: one["ts_ms"]):
        rows = list(sample)
        evaluator.feed(rows)
        for one in evaluator.verdicts():
            window = ts_ms - ts_ms % WINDOW_MS
            found[rows[0]["cluster_id"], one.topic, one.group, window] = one
    return found


def compare(gold, mine):
    """Every row of gold beside the verdict of its window."""
    lags, risks = keyed(gold["group_lag"]), keyed(gold["group_expiry"])
    assert lags.keys() == mine.keys() == risks.keys()
    for table, rows in (("group_lag", lags), ("group_expiry", risks)):
        for key, row in rows.items():
            for name in EQUAL[table]:
                called = OF_A_RISK.get(name, name) if table == "group_expiry" else name
                assert (key, name, getattr(mine[key], called)) == (key, name, row[name])
            for name in CLOSE[table]:
                close(getattr(mine[key], name), row[name], (key, name))
    for key, row in lags.items():
        assert (key, ",".join(mine[key].reasons)) == (key, row["reasons"])


def close(one, other, what):
    assert (one is None) == (other is None), (what, one, other)
    if one is not None:
        assert one == pytest.approx(other, rel=1e-6, abs=1e-5), what


def seen(slices):
    """The slices of samples as the last of each window, and the verdicts at these."""
    return tables.gold(slices, RULES), verdicts_of(slices)


@settings(max_examples=60, deadline=None)
@given(st.integers(100, 10**6))
def test_of_any_world_both_say_the_same(seed):
    compare(*seen(world.slices(seed, cuts_are_seen=True)))


@pytest.mark.parametrize("case", [name for name in CASES if name not in HINDSIGHT])
def test_of_staged_situations_both_say_the_same(case):
    compare(*seen(of_cluster(case, CASES[case])))


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_through_spark_both_say_the_same(spark):
    """Every world and case is a cluster; one pass of Spark over all of them."""
    worlds = [world.slices(seed, cuts_are_seen=True) for seed in SEEDS]
    worlds += [of_cluster(name, CASES[name]) for name in CASES if name not in HINDSIGHT]
    mine = {}
    for slices in worlds:
        mine |= verdicts_of(slices)
    gold = spark_gold(spark, list(itertools.chain(*worlds)))
    compare(gold, mine)
    # Else that they agree would prove little.
    lags, risks = gold["group_lag"], gold["group_expiry"]
    print(dict(collections.Counter(row["status"] for row in lags)))
    assert len(lags) > 1_000
    assert {row["status"] for row in lags} == set(map(str, Status))
    assert {row["trend"] for row in lags} == set(map(str, Trend))
    assert {row["method"] for row in lags} >= set(map(str, Method))
    assert {row["status"] for row in risks} == set(map(str, Risk))
    assert len({row["reasons"] for row in lags}) > 2


@pytest.mark.parametrize("away", [1, 2, 10, 18, 19, 20, 21, 22, 30])
def test_however_long_a_group_was_away_both_say_the_same(away):
    """In windows of half a minute, around the ten minutes that trends look back."""
    there = [*range(12), *range(11 + away, 23 + away)]
    topics = [topic_slice(n / 2, 50 * n + 1000) for n in range(23 + away)]
    groups = [
        group_slice(n / 2, 50 * n + 900 if n < 12 else 40 * (n - 11), 50 * n + 1000) for n in there
    ]
    gold, mine = seen([*topics, *groups])
    compare(gold, mine)
    went_back = {row["reasons"] for row in gold["group_lag"] if "REWOUND" in row["reasons"]}
    assert bool(went_back) == (away * RULES.window_s <= RULES.trend_s)


def test_of_missing_hours_nothing_is_made_up():
    """What came meanwhile has no time, and for how long the group stood still is not known."""
    gold, _ = seen(of_cluster("hours-missing", CASES["hours-missing"]))
    rows = sorted(gold["group_lag"], key=lambda row: row["ts_ms"])
    assert len(rows) == 16
    after = [row for row in rows if row["sampled_ms"] >= minute(188)]
    assert [row["status"] for row in after[:2]] == ["UNKNOWN"] * 2
    assert {row["lag_seconds"] for row in after} == {None}
    assert {row["method"] for row in after} == {"out_of_history"}
    # It was there when the collector came back.
    assert [row["lag_seconds_at_least"] for row in after] == [60 * m for m in range(8)]
    assert after[-1]["status"] == "STALLED"
