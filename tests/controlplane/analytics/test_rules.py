"""When a run is due, and what it computes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics import rules
from spark_analytics.contracts.rules import Rules

RULES = Rules()
WINDOW_MS = RULES.window_s * 1000
NOW_MS = 1_760_000_000_000


def is_due(**changes):
    usual = {
        "now_ms": NOW_MS,
        "first_samples_ms": [NOW_MS - 3_600_000],
        "last_run": None,
        "interval_s": 300,
        "first_after_s": 45,
        "rules": RULES,
    }
    return rules.run_is_due(**{**usual, **changes})


def test_nothing_is_due_before_there_is_telemetry():
    assert not is_due(first_samples_ms=[])


def test_the_first_run_comes_soon_after_the_first_sample():
    assert not is_due(first_samples_ms=[NOW_MS - 44_000])
    assert is_due(first_samples_ms=[NOW_MS - 45_000])


def test_later_runs_keep_the_interval_from_start_to_start():
    assert not is_due(last_run=rules.LastRun(started_ms=NOW_MS - 299_000))
    assert is_due(last_run=rules.LastRun(started_ms=NOW_MS - 300_000))


def test_a_run_comes_as_soon_as_groups_can_be_judged():
    first_ms = NOW_MS - int(rules.verdict_after_s(RULES) * 1000)
    early = rules.LastRun(started_ms=first_ms + 46_000)
    assert not is_due(first_samples_ms=[first_ms + 1], last_run=early)
    assert is_due(first_samples_ms=[first_ms], last_run=early)
    assert not is_due(first_samples_ms=[first_ms], last_run=rules.LastRun(started_ms=NOW_MS))


def test_a_new_cluster_does_not_wait_for_the_interval_of_the_old_ones():
    last = rules.LastRun(started_ms=NOW_MS - 60_000)
    assert is_due(first_samples_ms=[NOW_MS - 3_600_000, NOW_MS - 45_000], last_run=last)


moments = st.integers(min_value=NOW_MS, max_value=NOW_MS + 10**9)
backs = st.dictionaries(st.sampled_from("abc"), st.integers(0, 10 * 3_600_000), max_size=3)


@given(now_ms=moments, back=backs, range_max_s=st.integers(60, 6 * 3600))
def test_a_range_is_whole_windows_and_misses_nothing(now_ms, back, range_max_s):
    done = {name: now_ms - ago for name, ago in back.items()}
    found = rules.run_range(
        now_ms=now_ms,
        cluster_ids=["a", "b"],
        done_until_ms=done,
        range_max_s=range_max_s,
        rules=RULES,
    )
    assert found.to_ms % WINDOW_MS == 0
    assert found.to_ms - WINDOW_MS <= now_ms < found.to_ms
    assert found.from_ms == min(found.starts_ms.values())
    for name in ("a", "b"):
        start_ms = found.starts_ms[name]
        assert start_ms % WINDOW_MS == 0
        assert start_ms < found.to_ms
        assert found.to_ms - start_ms <= range_max_s * 1000 + WINDOW_MS
        if name not in done:
            assert start_ms <= found.to_ms - range_max_s * 1000 or (
                found.to_ms - start_ms == WINDOW_MS
            )
        elif done[name] > found.to_ms - range_max_s * 1000:
            assert start_ms <= done[name]


def test_what_one_cluster_missed_is_no_work_for_another():
    found = rules.run_range(
        now_ms=NOW_MS,
        cluster_ids=["new", "away", "fine"],
        done_until_ms={"away": NOW_MS - 3_600_000, "fine": NOW_MS - 300_000},
        range_max_s=6 * 3600,
        rules=RULES,
    )
    spans_s = {name: (found.to_ms - start) / 1000 for name, start in found.starts_ms.items()}
    assert spans_s["fine"] < 300 + rules.OVERLAP_S + 2 * RULES.window_s
    assert 3_600 < spans_s["away"] < 3_600 + rules.OVERLAP_S + 2 * RULES.window_s
    assert spans_s["new"] == 6 * 3600


def test_a_range_shrinks_while_runs_fail():
    assert [rules.range_max_after(failures, 800) for failures in (0, 1, 2, 3, 9)] == [
        800,
        400,
        200,
        100,
        100,
    ]
