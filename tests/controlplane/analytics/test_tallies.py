"""Objectives counted from rollups and windows say what all windows, counted one by one, say."""

from __future__ import annotations

import random

import pytest

from controlplane.analytics.insights import objectives, tallies
from controlplane.analytics.insights.burns import BUDGET_S, WINDOWS_S, burn, verdict
from controlplane.analytics.insights.targets import DEFAULT, Target
from controlplane.analytics.models import GoldGroupLag, GoldGroupRollup
from tests.controlplane.analytics import rows as gold
from tests.controlplane.analytics.rollup_rows import HOUR_MS, T0_MS, stored
from tests.controlplane.support import client_for

pytestmark = pytest.mark.django_db
TARGETS = [
    Target(objective_id="lo_1", group="a", seconds=20.0, share=0.9),
    Target(objective_id="lo_2", group="b", is_prefix=True, topic="t", seconds=400.0, share=0.99),
]


def fill(cluster_id, dice, hours, series, *, rolled):
    """Windows as a run leaves them, and the rollups of those hours that `rolled` takes."""
    found = []
    for group, topic in series:
        for hour in range(hours):
            mood = dice.choice(["good", "good", "mixed", "late", "blind", "gone"])
            for at in range(0, HOUR_MS, gold.WINDOW_MS):
                if mood == "gone" or dice.random() < 0.1:
                    continue
                late = {
                    "good": 1.0,
                    "mixed": dice.choice([1.0, 30.0, 500.0, None]),
                    "late": 900.0,
                    "blind": None,
                    "gone": None,
                }[mood]
                least = dice.choice([None, 10.0, 600.0]) if mood != "good" else None
                row = gold.lag_row(
                    cluster_id,
                    T0_MS + hour * HOUR_MS + at,
                    group=group,
                    topic=topic,
                    lag_seconds=late,
                    lag_seconds_at_least=least,
                )
                found.append(GoldGroupLag(**row, run_id="r"))
    GoldGroupLag.objects.bulk_create(found, batch_size=500)
    for hour in range(hours):
        if rolled(hour):
            roll(cluster_id, found, hour)
    return found


def roll(cluster_id, windows, hour):
    """As `transforms.group_rollup` does of an hour."""
    begin = T0_MS + hour * HOUR_MS
    stored("cluster_rollup", cluster_id, hour)
    mine = {}
    for row in windows:
        if begin <= row.ts_ms < begin + HOUR_MS:
            mine.setdefault((row.group, row.topic), []).append(row)
    for (group, topic), rows in mine.items():
        known = [row.lag_seconds for row in rows if row.lag_seconds is not None]
        least = [row.lag_seconds_at_least for row in rows if row.lag_seconds_at_least is not None]
        stored(
            "group_rollup",
            cluster_id,
            hour,
            group=group,
            topic=topic,
            samples=len(rows),
            time_lag_samples=len(known),
            lag_seconds_max=max(known, default=None),
            lag_seconds_at_least_max=max(least, default=None),
        )


def slow(windows, as_of_ms, targets, group=None):
    """The definition, a window at a time."""
    found = {}
    near = [row for row in windows if as_of_ms - BUDGET_S * 1000 < row.ts_ms <= as_of_ms]
    for row in near:
        if group in {None, row.group}:
            found.setdefault((row.group, row.topic), []).append(row)
    answer = []
    for (name, topic), rows in sorted(found.items()):
        covering = [each for each in targets if each.covers("kc", name, topic)]
        target = max(covering, key=lambda each: each.narrowness, default=DEFAULT)

        def counts(span_s, rows=rows, limit=target.seconds):
            mine = [row for row in rows if row.ts_ms > as_of_ms - span_s * 1000]
            good = sum(row.lag_seconds is not None and row.lag_seconds <= limit for row in mine)
            bad = sum(
                row.lag_seconds > limit
                if row.lag_seconds is not None
                else (row.lag_seconds_at_least or 0) > limit
                for row in mine
            )
            return good, bad

        rates = {key: burn(*counts(span_s), target.share) for key, span_s in WINDOWS_S.items()}
        good, bad = counts(BUDGET_S)
        answer.append(
            {
                "group": name,
                "topic": topic,
                "objective_id": target.objective_id,
                "verdict": verdict(rates).value,
                **{f"burn_{key}": rate for key, rate in rates.items()},
                "good": good,
                "bad": bad,
                "unknown": len(rows) - good - bad,
            }
        )
    return answer


def told(rows):
    wanted = ("group", "topic", "objective_id", "verdict", "good", "bad", "unknown")
    names = (*wanted, *(f"burn_{name}" for name in WINDOWS_S))
    return [{name: row[name] for name in names if name in row} for row in rows]


SERIES = [("a", "t"), ("a", "u"), ("b1", "t"), ("b1", "u"), ("c", "t")]


@pytest.mark.parametrize("seed", range(8))
def test_every_answer_is_that_of_the_windows(world, seed, monkeypatch):
    dice = random.Random(seed)
    monkeypatch.setattr(tallies, "RUNS_A_QUESTION", dice.choice([1, 2, 100]))
    share = dice.choice([0.0, 0.5, 1.0])
    windows = fill(
        world.cluster.id, dice, 14, SERIES, rolled=lambda hour: dice.random() < share and hour < 13
    )
    for _ in range(4):
        as_of_ms = T0_MS + dice.randrange(14 * 120) * gold.WINDOW_MS
        expected = slow(windows, as_of_ms, TARGETS)
        assert told(objectives.rows(world.cluster.id, as_of_ms, TARGETS)) == expected
        one = told(objectives.rows(world.cluster.id, as_of_ms, TARGETS, group="b1"))
        assert one == [row for row in expected if row["group"] == "b1"]
        near = slow(windows, as_of_ms, TARGETS)
        rates = {
            (row["group"], row["topic"]): {key: row[key] for key in row if "burn_" in key}
            for row in near
            if row["objective_id"]
        }
        for row in objectives.near(world.cluster.id, as_of_ms, TARGETS):
            pair = row["group"], row["topic"]
            assert {key: row[key] for key in row if "burn_" in key} == rates[pair]


def test_the_budget_begins_in_the_middle_of_an_hour(world, monkeypatch):
    for name in ("objectives", "burns"):
        module = __import__(f"controlplane.analytics.insights.{name}", fromlist=["x"])
        monkeypatch.setattr(module, "BUDGET_S", 8 * 3600)
    monkeypatch.setitem(globals(), "BUDGET_S", 8 * 3600)
    windows = fill(world.cluster.id, random.Random(9), 14, SERIES, rolled=lambda hour: hour < 13)
    for back in (0, 1, 59, 60, 119):
        as_of_ms = T0_MS + (14 * 120 - 1 - back) * gold.WINDOW_MS
        expected = slow(windows, as_of_ms, TARGETS)
        assert told(objectives.rows(world.cluster.id, as_of_ms, TARGETS)) == expected


def test_windows_of_hours_in_which_nothing_was_late_are_not_read(
    world, django_assert_max_num_queries
):
    windows = fill(
        world.cluster.id, random.Random(1), 14, [("c", "t")], rolled=lambda hour: hour < 12
    )
    GoldGroupRollup.objects.update(lag_seconds_max=1.0, lag_seconds_at_least_max=None)
    newest = max(row.ts_ms for row in windows)
    GoldGroupLag.objects.filter(ts_ms__lt=T0_MS + 3 * HOUR_MS).delete()
    with django_assert_max_num_queries(20):
        (row,) = objectives.rows(world.cluster.id, newest, [])
    there = sum(row.ts_ms < T0_MS + 3 * HOUR_MS for row in windows)
    assert there > 0
    assert row["good"] + row["bad"] + row["unknown"] == len(windows), "rollups tell of them"


def test_what_would_take_too_long_is_to_be_asked_for_by_name(world, monkeypatch):
    fill(world.cluster.id, random.Random(1), 3, SERIES, rolled=lambda hour: False)
    monkeypatch.setattr(tallies, "WINDOWS_MAX", 2 * 3 * 120)
    client = client_for(world.tenant, "viewer")
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/lag-objectives"
    refused = client.get(where, {"seconds": 17})
    assert refused.status_code == 422, refused.content
    assert "one group" in refused.content.decode()
    assert client.get(where, {"seconds": 17, "group": "c"}).status_code == 200
