"""Charts: no more points than asked, peaks kept, gaps shown, against a slow reference."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.insights import charts
from controlplane.analytics.models import GoldGroupLag
from spark_analytics.contracts.gold import DAY_S
from tests.controlplane.analytics import rows as gold
from tests.controlplane.analytics.rollup_rows import HOUR_MS, T0_MS, stored
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
WINDOW_MS = gold.WINDOW_MS


@given(
    st.integers(0, 2**41), st.integers(1, 400 * DAY_S * 1000), st.integers(10, 1000), st.booleans()
)
def test_steps_are_whole_periods_cover_the_range_and_are_not_too_many(begin, span, points, windows):
    plan = charts.steps(begin, begin + span, points, has_windows=windows, windows_since_ms=2**40)
    assert plan.step_s % plan.period_s == 0
    assert plan.from_ms % (plan.step_s * 1000) == 0
    assert plan.from_ms <= begin
    assert plan.to_ms >= begin + span
    assert 1 <= len(plan.ts_ms) <= points + 1
    if plan.source == charts.WINDOWS:
        assert windows
        assert begin >= 2**40


def get(world, role="viewer", **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/chart"
    return client_for(world.tenant, role).get(where, query)


@pytest.mark.parametrize("seed", range(4))
def test_windows_are_drawn_together_as_the_reference_does(world, seed):
    dice = random.Random(seed)
    kept = {}
    for at in range(600):
        if dice.random() < 0.2 or 200 <= at < 260:
            continue
        late = dice.choice([None, dice.randrange(1000)])
        kept[gold.T0_MS + at * WINDOW_MS] = late
        row = gold.lag_row(world.cluster.id, gold.T0_MS + at * WINDOW_MS, lag_records=late)
        GoldGroupLag.objects.create(**row, run_id="r")
    body = get(world, measure="lag_records", points=40).json()
    assert body["source"] == "windows"
    assert len(body["ts_ms"]) <= 41
    (series,) = body["series"]
    assert (series["topic"], series["group"]) == ("t", "g")
    step_ms = body["step_s"] * 1000
    for at, begin in enumerate(body["ts_ms"]):
        inside = [v for ts, v in kept.items() if begin <= ts < begin + step_ms]
        known = [value for value in inside if value is not None]
        assert series["highest"][at] == (max(known) if known else None)
        if known:
            assert series["typical"][at] == pytest.approx(statistics.mean(known))
        else:
            assert series["typical"][at] is None
        assert series["known"][at] == pytest.approx(len(known) / (step_ms // WINDOW_MS))
    assert None in series["typical"]
    assert max(v for v in series["highest"] if v is not None) == max(filter(None, kept.values()))


def test_longer_ranges_are_read_by_hours_and_days(world):
    for at in range(72):
        stored("topic_rollup", world.cluster.id, at, bytes_avg=at, bytes_max=at * 2,
               bytes_samples=60)  # fmt: skip
    for at in range(100):
        stored("topic_rollup", world.cluster.id, at, period_s=DAY_S, bytes_avg=1, bytes_max=3,
               bytes_samples=2880)  # fmt: skip
    ask = {"measure": "topic_bytes", "topic": "t"}
    assert get(world, **ask).json()["series"] == [], "windows are what is newest here"
    world.gateway.add_topic("t")
    from controlplane.analytics.models import GoldTopicRetention

    row = gold.retention_row(world.cluster.id, T0_MS + 71 * HOUR_MS)
    GoldTopicRetention.objects.create(**row, run_id="r")
    body = get(world, **ask, **{"from": "2025-10-09T00:00:00Z"}).json()
    assert (body["source"], body["step_s"]) == ("hours", 3600)
    (series,) = body["series"]
    at = body["ts_ms"].index(T0_MS + 10 * HOUR_MS)
    assert (series["typical"][at], series["highest"][at], series["known"][at]) == (10, 20, 0.5)
    far = {"from": "2025-07-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    body = get(world, **ask, **far).json()
    assert (body["source"], body["step_s"] % DAY_S) == ("days", 0)
    assert set(body["series"][0]["highest"]) == {None, 3}


def test_the_highest_series_are_shown_and_the_rest_is_said(world, monkeypatch):
    monkeypatch.setattr(charts, "SERIES_MAX", 2)
    for group, late in (("low", 1), ("high", 100), ("mid", 50), ("dark", None)):
        row = gold.lag_row(world.cluster.id, gold.T0_MS, group=group, lag_records=late)
        GoldGroupLag.objects.create(**row, run_id="r")
    body = get(world, measure="lag_records").json()
    assert [series["group"] for series in body["series"]] == ["high", "mid"]
    assert not body["complete"]


def test_before_anything_is_known_it_is_empty(world):
    for measure in charts.MEASURES:
        body = get(world, measure=measure).json()
        assert (body["as_of"], body["ts_ms"], body["series"]) == (None, [], [])


@pytest.mark.parametrize(
    "query", [{"measure": "x"}, {"measure": "lag_records", "points": 5},
              {"measure": "lag_records", "points": 100_000}],
)  # fmt: skip
def test_a_bad_question_is_refused(world, query):
    assert get(world, **query).status_code == 422


def test_another_tenant_s_cluster_has_no_chart(world):
    other = cluster_make(tenant_make("rival"), name="secret")
    where = f"/api/v1/clusters/{other.id}/analytics/chart"
    answer = client_for(world.tenant).get(where, {"measure": "lag_records"})
    assert answer.status_code == 404


def test_a_chart_of_many_series_reads_longer_periods_and_no_more_rows_than_it_may(
    world, monkeypatch
):
    for group in ("a", "b", "c"):
        for at in (0, 1):
            row = gold.lag_row(world.cluster.id, gold.T0_MS + at * WINDOW_MS, group=group)
            GoldGroupLag.objects.create(**row, run_id="r")
    day = DAY_S * 1000 // WINDOW_MS
    monkeypatch.setattr(charts, "ROWS_MAX", 3 * day)
    assert get(world).json()["source"] == "windows"
    monkeypatch.setattr(charts, "ROWS_MAX", 3 * day - 1)
    assert get(world).json()["source"] == "hours"
    assert get(world, group="a").json()["source"] == "windows", "one series is not many"
    monkeypatch.setattr(charts, "ROWS_MAX", 3 * 24 - 1)
    assert get(world).json()["source"] == "days"


@given(st.integers(1, 10**7), st.integers(1, 60 * DAY_S))
def test_what_a_chart_reads_has_a_bound_whatever_is_asked(series, span_s):
    plan = charts.steps(
        2**41, 2**41 + span_s * 1000, 300, has_windows=True, windows_since_ms=0, series=series
    )
    if plan.source != charts.DAYS:
        assert series * span_s / plan.period_s <= charts.ROWS_MAX
