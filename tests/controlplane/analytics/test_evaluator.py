"""The collector's own verdicts on staged telemetry, beside the slow reference of Spark's formulas."""

from __future__ import annotations

import itertools

import pytest

from controlplane.analytics.verdicts.evaluator import Evaluator
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Status
from tests.spark_analytics import reference, world
from tests.spark_analytics.cases import CASES, of_cluster

RULES = Rules()
SEEDS = range(16)
WINDOW_MS = RULES.window_s * 1000


def by_sample(slices):
    ordered = sorted(slices, key=lambda one: one["ts_ms"])
    return [list(found) for _, found in itertools.groupby(ordered, key=lambda one: one["ts_ms"])]


def judged(slices):
    """(group, topic, window) → the last verdict of each window."""
    evaluator = Evaluator(RULES, history_is_whole=True)
    found = {}
    for sample in by_sample(slices):
        evaluator.feed(sample)
        for verdict in evaluator.verdicts():
            window = verdict.sampled_ms // WINDOW_MS * WINDOW_MS
            found[verdict.group, verdict.topic, window] = verdict
    return found


def compare(slices):
    found = judged(slices)
    gold = reference.gold(slices, RULES)
    expiry = {(row["group"], row["topic"], row["ts_ms"]): row for row in gold["group_expiry"]}
    assert found.keys() == {(r["group"], r["topic"], r["ts_ms"]) for r in gold["group_lag"]}
    for row in gold["group_lag"]:
        key = (row["group"], row["topic"], row["ts_ms"])
        verdict, risk = found[key], expiry[key]
        assert (key, verdict.status.value) == (key, row["status"])
        assert ",".join(verdict.reasons) == row["reasons"]
        assert (key, verdict.trend.value) == (key, row["trend"])
        for name in ("lag_records", "lost_records", "uncommitted_records", "members", "state"):
            assert (key, name, getattr(verdict, name)) == (key, name, row[name])
        for name in (
            *("lag_seconds", "lag_seconds_at_least", "trend_records_per_s", "eta_seconds"),
            *("produce_records_per_s", "consume_records_per_s"),
        ):
            assert same(getattr(verdict, name), row[name]), (key, name)
        assert (verdict.partitions, verdict.method in row["method"]) == (row["partitions"], True)
        assert verdict.expiry_method in risk["method"]
        assert (key, verdict.risk.value) == (key, risk["status"])
        expected = risk["oldest_unread_expires_in_s"]
        assert same(verdict.oldest_unread_expires_in_s, expected), key
        assert same(verdict.first_loss_in_s, risk["first_loss_in_s"]), key


def same(one, other):
    if one is None or other is None:
        return one is other
    return one == pytest.approx(other, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_equal_the_reference_at_every_window(seed):
    compare(world.slices(seed, cuts_are_seen=True))


@pytest.mark.parametrize(
    "case", [case for case in CASES if case not in ("clock-back", "recreated")]
)
def test_verdicts_of_staged_cases_equal_the_reference(case):
    compare(of_cluster(case, CASES[case]))


def test_a_marker_counts_as_a_record_unless_that_much_is_allowed():
    """Telemetry cannot tell one from the other: lag is an upper bound."""
    for allowed, status in ((0, Status.STALLED), (1, Status.CAUGHT_UP)):
        evaluator = Evaluator(Rules(allowed_lag_records=allowed), history_is_whole=True)
        for sample in by_sample(CASES["marker-at-the-end"]):
            evaluator.feed(sample)
        (verdict,) = evaluator.verdicts()
        assert (verdict.lag_records, verdict.status) == (1, status)


def test_gaps_of_compaction_are_lag_and_no_loss():
    verdict = max(judged(CASES["compacted"]).items())[1]
    assert (verdict.lag_records, verdict.lost_records, verdict.risk) == (300, 0, Risk.SAFE)
    assert verdict.lag_seconds == pytest.approx(180)
    assert (verdict.first_loss_in_s, verdict.oldest_unread_expires_in_s) == (None, None)


@pytest.mark.parametrize("seed", range(4))
def test_a_sample_that_comes_twice_changes_nothing(seed):
    once, twice = (Evaluator(RULES, history_is_whole=True) for _ in range(2))
    for sample in by_sample(world.slices(seed)):
        once.feed(sample)
        for _ in range(2):
            twice.feed(sample)
        assert twice.verdicts() == once.verdicts()
