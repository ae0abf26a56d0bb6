"""Every analysis against a slow reference over random hours, and its answers."""

from __future__ import annotations

import csv
import io
import json
import random
import statistics
from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from django.apps import apps
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.insights import (
    burns,
    forecast,
    hot,
    objectives,
    prices,
    silent,
    unused,
    usage,
    what_if,
)
from controlplane.analytics.insights.scene import scene_of
from controlplane.analytics.insights.targets import Target
from controlplane.analytics.models import GoldGroupLag
from controlplane.observed.models import ObservedTopic
from spark_analytics.contracts.analyses import ANALYSES, Verdict
from spark_analytics.contracts.gold import CHOICE_LENGTH_MAX, DAY_S
from tests.controlplane.analytics import rows as gold
from tests.controlplane.analytics.rollup_rows import DAY_MS, HOUR_MS, T0_MS, stored
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
HOURS = 72
GIB = 2**30
PATHS = {
    "retention/a/what-if": {},
    "retention/a/what-if/groups": {},
    "usage": {},
    "lag-objectives": {},
    "unused-topics": {},
    "disk-forecast": {"capacity_bytes": 10**12},
    "hot-partitions": {},
    "silent-producers": {},
}


def observe(cluster_id, **replicas):
    for name, factor in replicas.items():
        row = {"replication_factor": factor, "size_bytes": 1000}
        ObservedTopic.objects.create(cluster_id=cluster_id, key=name, row=row, mark="m")


def hours(cluster_id, seed):
    """Random hours of three topics and their groups, some missing, some unknown."""
    dice = random.Random(seed)
    for at in range(HOURS):
        stored("cluster_rollup", cluster_id, at, samples=dice.choice([120, 110]))
        for topic in "abc":
            if dice.random() < 0.03:
                continue
            known = dice.random() > 0.03
            came = dice.choice([0, 0, 150, 5000]) if topic != "c" else 0
            stored(
                "topic_rollup",
                cluster_id,
                at,
                topic=topic,
                partitions=4,
                samples=dice.choice([120, 120, 115, 60]),
                records_in=came if known else None,
                bytes_in=came * 100 if known else None,
                bytes_samples=100 if known else 0,
                bytes_avg=dice.random() * 10**9 if known else None,
                bytes_last=dice.randrange(10**9) if known else None,
                last_write_ms=T0_MS + at * HOUR_MS if came and known else None,
                busiest_partition=dice.randrange(4) if came else None,
                busiest_share=dice.uniform(0.25, 1) if came else None,
                gini=dice.random() if came else None,
            )
            late = dice.choice([None, 5.0, 4000.0, 90_000.0])
            stored(
                "group_rollup",
                cluster_id,
                at,
                topic=topic,
                lag_samples=dice.choice([0, 120]),
                time_lag_samples=dice.choice([60, 120]),
                lag_seconds_at_least_max=late,
                records_out=dice.choice([None, 0, 10]) if topic != "c" else 0,
                bytes_out=dice.choice([None, 0, 10**8]),
            )


def rows_of(table, cluster_id, **equal):
    from controlplane.analytics.load import MODELS

    return [
        row
        for row in MODELS[table].objects.filter(cluster_id=cluster_id).order_by("ts_ms")
        if all(getattr(row, name) == value for name, value in equal.items())
    ]


@pytest.fixture(params=range(4))
def scene(world, request):
    hours(world.cluster.id, request.param)
    observe(world.cluster.id, a=3, b=2)
    return scene_of(world.cluster.id, from_ms=None, to_ms=None, span_ms=HOURS * HOUR_MS)


def test_a_scene_is_of_whole_hours_and_says_what_was_seen(scene, world):
    assert (scene.from_ms, scene.to_ms) == (T0_MS, T0_MS + HOURS * HOUR_MS)
    seen = sum(row.samples for row in rows_of("cluster_rollup", world.cluster.id))
    assert scene.seen_share == pytest.approx(seen / (HOURS * 120))
    late = scene_of(world.cluster.id, from_ms=T0_MS, to_ms=T0_MS + 10**12, span_ms=1)
    assert late.to_ms == scene.to_ms, "what is not known yet is not missing"


def test_what_if_equals_the_reference(scene, world):
    rungs = what_if.ladder(5400)
    groups = what_if.group_rows(scene, "a", rungs)
    by_key = {(row["retention_s"], row["group"]): row for row in groups}
    reads = rows_of("group_rollup", world.cluster.id, topic="a")
    for rung in rungs:
        losing = [r for r in reads if (r.lag_seconds_at_least_max or 0) > rung]
        unclear = [
            r
            for r in reads
            if r.lag_seconds_at_least_max is None
            or (r.lag_seconds_at_least_max <= rung and r.time_lag_samples < r.lag_samples)
        ]
        row = by_key[rung, "g"]
        assert (row["losing_hours"], row["unknown_hours"]) == (len(losing), len(unclear))
        assert row["first_ms"] == min((r.ts_ms for r in losing), default=None)
        assert row["verdict"] == ("would_lose" if losing else "unknown" if unclear else "safe")
    held = {row["retention_s"]: row for row in what_if.rows(scene, "a", rungs, groups)}
    topics = {row.ts_ms: row for row in rows_of("topic_rollup", world.cluster.id, topic="a")}
    for rung in rungs:
        minutes = range(scene.to_ms - rung * 1000, scene.to_ms, 60_000)
        total = 0.0
        for minute in minutes:
            hour = topics.get(minute // HOUR_MS * HOUR_MS)
            if hour is None or hour.bytes_in is None or hour.samples < 108:
                total = None
                break
            total += hour.bytes_in / 60
        got = held[rung]["bytes_held"]
        assert (got is None) == (total is None)
        if total is not None:
            assert got == pytest.approx(total, abs=1)


@given(st.lists(st.none() | st.integers(0, 10**12), min_size=3, max_size=10), st.data())
def test_more_retention_never_holds_less(came, data):
    found = {
        at * HOUR_MS: what_if.Hour(ts_ms=at * HOUR_MS, bytes_in=many)
        for at, many in enumerate(came)
    }
    end_ms = len(came) * HOUR_MS
    short = data.draw(st.integers(60, len(came) * 3600))
    long = data.draw(st.integers(short, len(came) * 3600))
    less, more = (what_if.bytes_held(found, end_ms, r) for r in (short, long))
    assert more is None or (less is not None and less <= more)
    assert what_if.bytes_held(found, end_ms, (len(came) + 1) * 3600) is None


BOOK = (
    '[{"from": "2025-10-10", "currency": "EUR", "gib_hour": "0.5", "gib_in": "2", "gib_out": "3"},'
    ' {"from": "2001-01-01", "currency": "EUR", "gib_hour": "0.1", "gib_in": "1", "gib_out": "1"}]'
)


def test_usage_and_cost_equal_the_reference(scene, world, monkeypatch):
    monkeypatch.setenv(prices.VARIABLE, BOOK)
    cut_ms = prices.price_book()[1].from_ms
    assert scene.from_ms < cut_ms < scene.to_ms
    found = {(row["topic"], row["group"]): row for row in usage.rows(scene, prices.price_book())}
    assert found.keys() == {(t, g) for t in "abc" for g in (None, "g")}
    for topic, replicas in (("a", 3), ("b", 2), ("c", None)):
        cost = 0.0
        held = came = 0.0
        for row in rows_of("topic_rollup", world.cluster.id, topic=topic):
            gib_hours = (row.bytes_avg or 0) * row.bytes_samples / 120 / GIB * (replicas or 0)
            gib_in = (row.bytes_in or 0) / GIB
            held, came = held + gib_hours, came + gib_in
            new = row.ts_ms >= cut_ms
            cost += gib_hours * (0.5 if new else 0.1) + gib_in * (2 if new else 1)
        row = found[topic, None]
        assert row["gib_in"] == pytest.approx(came)
        if replicas is None:
            assert (row["gib_hours"], row["cost"], row["currency"]) == (None, None, None)
        else:
            assert row["gib_hours"] == pytest.approx(held)
            assert float(row["cost"]) == pytest.approx(cost, abs=1e-5)
            assert row["currency"] == "EUR"
    monkeypatch.setenv(prices.VARIABLE, "")
    assert {row["cost"] for row in usage.rows(scene, prices.price_book())} == {None}


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", '[{"from": "x"}]', BOOK.replace('"2"', '"-2"'), BOOK.replace('"2"', '"NaN"'),
     BOOK.replace("EUR", "EURO")],
)  # fmt: skip
def test_a_bad_price_book_is_named(monkeypatch, text):
    monkeypatch.setenv(prices.VARIABLE, text)
    with pytest.raises(ValueError, match=prices.VARIABLE):
        prices.price_book()
    with pytest.raises(ValueError, match=prices.VARIABLE):
        apps.get_app_config("analytics").ready()


@given(
    st.lists(st.integers(0, 100), unique=True, max_size=6), st.integers(0, 99), st.integers(0, 99)
)
def test_spans_cover_the_range_once(starts, one, other):
    begin, end = sorted((one, other))
    free = Decimal(0)
    book = [
        prices.Price(from_ms=at, currency="EUR", gib_hour=free, gib_in=free, gib_out=free)
        for at in sorted(starts)
    ]
    covered = []
    for span in prices.spans(book, begin, end):
        for at in range(span.from_ms, span.to_ms):
            covered.append(at)
            assert (span.price.from_ms if span.price else None) == max(
                (p for p in starts if p <= at), default=None
            )
    assert covered == list(range(begin, end))


@pytest.mark.parametrize("seed", range(3))
def test_objectives_equal_the_reference(world, seed):
    dice = random.Random(seed)
    as_of_ms = gold.T0_MS + 1000 * gold.WINDOW_MS
    kept = []
    for at in range(1001):
        late = dice.choice([None, 10.0, 10.0, 500.0] if at < 900 else [500.0, None])
        bound = dice.choice([None, 20.0, 700.0])
        kept.append((gold.T0_MS + at * gold.WINDOW_MS, late, bound))
        row = gold.lag_row(
            world.cluster.id, kept[-1][0], lag_seconds=late, lag_seconds_at_least=bound
        )
        GoldGroupLag.objects.create(**row, run_id="r")
    (row,) = objectives.rows(world.cluster.id, as_of_ms, [Target(seconds=60, share=0.9)])

    def spent(span_s):
        near = [k for k in kept if k[0] > as_of_ms - span_s * 1000]
        bad = [k for k in near if (k[1] or 0) > 60 or (k[1] is None and (k[2] or 0) > 60)]
        good = [k for k in near if k[1] is not None and k[1] <= 60]
        return len(bad) / (len(bad) + len(good)) / 0.1

    for name, span_s in burns.WINDOWS_S.items():
        assert row[f"burn_{name}"] == pytest.approx(spent(span_s))
    assert row["budget_left"] == pytest.approx(1 - spent(burns.BUDGET_S))
    assert row["good"] + row["bad"] + row["unknown"] == 1001


@pytest.mark.parametrize(
    ("rates", "word"),
    [
        ({"1h": 20, "5m": 20, "6h": 20, "30m": 20}, Verdict.FAST_BURN),
        ({"1h": 20, "5m": 1, "6h": 7, "30m": 7}, Verdict.SLOW_BURN),
        ({"1h": 5, "5m": None, "6h": 5, "30m": 7}, Verdict.WITHIN),
        ({"1h": 20, "5m": 1, "6h": 5, "30m": None}, Verdict.WITHIN),
        ({"1h": 20, "5m": None, "6h": 5, "30m": 7}, Verdict.UNKNOWN),
        ({"1h": 5, "5m": 5, "6h": None, "30m": 7}, Verdict.UNKNOWN),
        ({"1h": None, "5m": 20, "6h": 7, "30m": 7}, Verdict.SLOW_BURN),
        ({"1h": None, "5m": None, "6h": None, "30m": None}, Verdict.UNKNOWN),
    ],
)
def test_two_windows_must_agree(rates, word):
    assert burns.verdict(rates) is word
    assert burns.burn(0, 0, 0.99) is None


def test_unused_equals_the_reference(scene, world):
    found = {row["topic"]: row for row in unused.rows(scene, 24 * 3600)}
    for topic in "abc":
        written = rows_of("topic_rollup", world.cluster.id, topic=topic)
        read = rows_of("group_rollup", world.cluster.id, topic=topic)
        if written[-1].ts_ms < scene.to_ms - HOUR_MS:
            assert topic not in found
            continue
        row = found[topic]
        writes = [r.last_write_ms for r in written if r.last_write_ms is not None]
        reads = [r.ts_ms for r in read if (r.records_out or 0) > 0]
        assert row["last_write_ms"] == max(writes, default=None)
        assert row["last_read_ms"] == max(reads, default=None)
        windows = (scene.to_ms - written[0].ts_ms) // HOUR_MS * 120
        assert row["seen_share"] == pytest.approx(sum(r.samples for r in written) / windows)
        moved = any(at > scene.to_ms - DAY_MS for at in [*writes, *reads])
        expected = "in_use" if moved else "unknown" if row["seen_share"] < 0.9 else "unused"
        assert row["verdict"] == expected


def test_a_topic_that_was_watched_too_briefly_is_not_called_unused():
    given = {"idle_ms": DAY_MS, "as_of_ms": 3 * DAY_MS, "last_ms": None}
    assert unused.verdict(since_ms=2 * DAY_MS + 1, seen_share=1, **given) is Verdict.UNKNOWN
    assert unused.verdict(since_ms=2 * DAY_MS, seen_share=1, **given) is Verdict.UNUSED
    assert unused.verdict(since_ms=0, seen_share=0.5, **given) is Verdict.UNKNOWN


def test_hot_partitions_equal_the_reference(scene, world):
    found = {row["topic"]: row for row in hot.rows(scene)}
    for topic in "abc":
        mine = rows_of("topic_rollup", world.cluster.id, topic=topic)
        shares = [r.busiest_share for r in mine if r.busiest_share is not None]
        records = sum(r.records_in or 0 for r in mine)
        row = found[topic]
        assert row["hours"] == len(shares)
        if not shares:
            assert (row["busiest_share"], row["verdict"]) == (None, "unknown")
            continue
        assert row["busiest_share"] == pytest.approx(statistics.fmean(shares))
        assert (
            row["busiest_partition"] == [r for r in mine if r.busiest_share][-1].busiest_partition
        )
        assert row["verdict"] == ("hot" if statistics.fmean(shares) >= 0.5 else "even")
        assert records >= 1000


def test_silent_producers(world):
    cluster_id = world.cluster.id
    for day in range(6):
        for topic, records in (("busy", 5000), ("quiet", 5000), ("small", 20)):
            now = day == 5
            stored(
                "topic_rollup", cluster_id, day * 24, topic=topic,
                records_in={"busy": 4000, "quiet": 12, "small": 0}[topic] if now else records + day,
            )  # fmt: skip
        stored("cluster_rollup", cluster_id, day * 24)
    stored("topic_rollup", cluster_id, 5 * 24, topic="new", records_in=5)
    stored("topic_rollup", cluster_id, 5 * 24, topic="dark", records_in=0, samples=50)
    scene = scene_of(cluster_id, from_ms=None, to_ms=None, span_ms=DAY_MS)
    found = {row["topic"]: row for row in silent.rows(scene)}
    assert {name: row["verdict"] for name, row in found.items()} == {
        "busy": "producing",
        "quiet": "silent",
        "small": "unknown",
        "new": "unknown",
        "dark": "unknown",
    }
    assert found["quiet"]["usual_records"] == 5002
    assert found["quiet"]["share_of_usual"] == pytest.approx(12 / 5002)
    assert found["dark"]["records"] is None


@given(
    st.lists(st.integers(0, 10**15), min_size=3, max_size=28),
    st.integers(1, 10**15),
)
def test_a_forecast_is_in_order_and_moves_with_growth(held, capacity):
    points = [(day * DAY_MS, float(many)) for day, many in enumerate(held)]
    growth = forecast.growths(points)
    assert growth["p10"] <= growth["p50"] <= growth["p90"]
    slopes = [
        (held[j] - held[i]) / (j - i) for i in range(len(held)) for j in range(i + 1, len(held))
    ]
    assert growth["p50"] == pytest.approx(statistics.median(slopes), rel=1e-9, abs=1e-3)
    soon, late = (forecast.days_left(held[-1], capacity, growth[n]) for n in ("p90", "p10"))
    assert late is None or (soon is not None and soon <= late)


def test_the_disk_forecast_of_a_steady_growth(world):
    for day in range(10):
        stored("cluster_rollup", world.cluster.id, day, period_s=DAY_S, bytes_last=100 + day * 10)
    stored("cluster_rollup", world.cluster.id, 239)
    scene = scene_of(world.cluster.id, from_ms=None, to_ms=None, span_ms=28 * DAY_MS)
    assert forecast.row(scene, 1000)["verdict"] == "unknown", "nobody knows how many replicas"
    observe(world.cluster.id, a=2)
    row = forecast.row(scene, 1000)
    assert (row["verdict"], row["disk_bytes"], row["used_share"]) == ("growing", 380, 0.38)
    assert [row[f"days_to_80_{q}"] for q in ("p10", "p50", "p90")] == pytest.approx([21, 21, 21])
    assert forecast.row(scene, 400)["days_to_80_p50"] == 0
    without = forecast.row(scene, None)
    assert (without["verdict"], without["days_to_80_p50"]) == ("growing", None)


def get(world, path, **query):
    where = f"/api/v1/clusters/{world.cluster.id}/analytics/{path}"
    return client_for(world.tenant, "viewer").get(where, query)


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_says_what_it_is_of(world, path):
    world.gateway.add_topic("a")
    assert get(world, path, **PATHS[path]).json()["data"] == [], "before the first hour"
    hours(world.cluster.id, 1)
    observe(world.cluster.id, a=3)
    lag = gold.lag_row(world.cluster.id, T0_MS + HOURS * HOUR_MS, topic="a")
    GoldGroupLag.objects.create(**lag, run_id="r")
    answer = get(world, path, **PATHS[path])
    assert answer.status_code == 200
    body = answer.json()
    analysis = ANALYSES[body["analysis"]]
    assert body["formula_version"] == analysis.formula_version
    assert body["inputs"] == list(analysis.inputs)
    assert body["complete"]
    # Of the whole span asked for, also what lies before the first hour.
    assert 0 < body["seen_share"] <= 1
    assert body["data"]
    assert list(body["data"][0]) == [column.name for column in analysis.columns]
    assert "NaN" not in answer.content.decode()
    for column in analysis.columns:
        values = {row[column.name] for row in body["data"]}
        assert column.null or None not in values, column.name
        if column.choices:
            assert values <= set(map(str, column.choices))
    table = pq.read_table(io.BytesIO(get(world, path, **PATHS[path], format="parquet").content))
    assert table.to_pylist() == body["data"]
    text = get(world, path, **PATHS[path], format="csv").content.decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == len(body["data"])


@pytest.mark.parametrize("path", PATHS)
def test_another_tenant_s_cluster_has_no_analysis(world, path):
    other = cluster_make(tenant_make("rival"), name="secret")
    where = f"/api/v1/clusters/{other.id}/analytics/{path}"
    assert client_for(world.tenant).get(where, PATHS[path]).status_code == 404


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("retention/a/what-if", {"retention_s": "5"}),
        ("lag-objectives", {"share": "1"}),
        ("lag-objectives", {"seconds": "nan"}),
        ("disk-forecast", {"capacity_bytes": "0"}),
        ("unused-topics", {"idle_s": "x"}),
        ("usage", {"format": "xlsx"}),
    ],
)
def test_a_bad_question_is_refused(world, path, query):
    assert get(world, path, **query).status_code == 422


def test_a_name_that_nobody_knows_is_not_found(world):
    assert get(world, "retention/nothing/what-if").status_code == 404
    assert get(world, "lag-objectives", group="nobody").status_code == 404
    assert get(world, "rollups/groups", group="nobody").status_code == 404


def test_no_more_than_a_month_at_once(world):
    for at in (0, 800):
        stored("cluster_rollup", world.cluster.id, at)
    answer = get(world, "usage", **{"from": "2025-10-09T00:00:00Z"})
    assert answer.status_code == 422
    assert "31 days" in json.dumps(answer.json())


@pytest.mark.parametrize("analysis", ANALYSES.values(), ids=lambda analysis: analysis.id)
def test_a_contract_of_an_analysis_holds_together(analysis):
    names = [column.name for column in analysis.columns]
    assert len(set(names)) == len(names)
    for column in analysis.columns:
        assert all(len(word) <= CHOICE_LENGTH_MAX for word in column.choices)
