"""Rates and limits follow from costs; and the costs are counted, not written down."""

from dataclasses import replace

import pytest

from tests.fleet import costs
from tests.fleet.assumed import Assumed
from tests.fleet.costs import Costs, Linear
from tests.fleet.limits import Seen, Settings, database_rates, limits, zookeeper_rates
from tests.fleet.workers import Workers

COSTS = Costs(
    beat={"sweep": (Linear(1.0, 0.0), 1.0), "alerts-evaluate": (Linear(20.0, 1.0), 10.0)},
    not_measured={},
    tick=6.0,
    observe=10.0,
    questions=20,
    hosts_read=Linear(1.0, 6.0),
    fail_over=Linear(6.0, 1.0),
    registration=38.0,
)
SETTINGS = Settings(
    observe_interval_s=15.0,
    observers_max=2,
    metrics_clusters_max=200,
    page_wait_s=1.5,
    report_every_s=30.0,
    alerts_interval_s=10.0,
)
SEEN = Seen(brokers=2_500, ticks=80_000, rolled_s=40_000.0, restarts=2_500, roll_lasted_s=2_000.0)


LARGE = Assumed()


def found(assumed=LARGE, settings=SETTINGS, cost=COSTS):
    rates = {
        "database": database_rates(cost, assumed, settings, SEEN),
        "zookeeper": zookeeper_rates(cost, assumed, settings, SEEN),
    }
    return limits(cost, assumed, settings, SEEN, rates)


def by_name(rows):
    return {row.what: row for row in rows}


def test_the_first_limit_is_at_the_top():
    rows = found()
    assert [row.share for row in rows] == sorted((row.share for row in rows), reverse=True)
    first = rows[0]
    # Two passes of 20 questions of 20 ms beside each other, in 15 s.
    assert (first.what, round(first.at), first.unit) == (
        "observation every interval",
        75,
        "clusters",
    )
    assert first.share == pytest.approx(500 / 75)
    assert "100 s old" in first.meaning


def test_more_observers_and_more_threads_move_their_limits():
    wide = by_name(found(Assumed(threads=16), replace(SETTINGS, observers_max=4)))
    narrow = by_name(found())
    for name in ("observation every interval", "threads that take ticks"):
        assert wide[name].at == pytest.approx(2 * narrow[name].at)
    assert wide["series of metrics"] == narrow["series of metrics"]


def test_passes_are_no_more_than_may_run():
    rate = database_rates(COSTS, Assumed(), SETTINGS, SEEN)[1]
    assert rate.per_s == pytest.approx(2 / (20 * 0.02) * 10)
    rate = database_rates(COSTS, Assumed(clusters=15), SETTINGS, SEEN)[1]
    assert rate.per_s == pytest.approx(1 * 10)


def test_pings_are_of_all_sessions():
    assert zookeeper_rates(COSTS, Assumed(), SETTINGS, SEEN)[0].per_s == pytest.approx(3_500 / 6)


def test_a_line_through_two_counts():
    line = Linear.through((2, 13), (8, 49))
    assert (line.fixed, line.each) == (1, 6)
    assert line.at(1_000) == 6_001


def test_a_tick_waits_for_a_thread():
    workers = Workers(2, 1.0)
    assert [workers.takes_s(0.0) for _ in range(3)] == [1.0, 1.0, 2.0]
    assert workers.takes_s(10.0) == 1.0
    assert workers.busy_s == 4.0


def test_costs_are_those_of_the_product(db):
    measured = costs.measure()
    assert (measured.hosts_read.fixed, measured.hosts_read.each) == (1, 6)
    assert 0 < measured.tick <= 8
    assert measured.observe > 0
    assert measured.questions > 0
    # One write for each partition that gets another leader, and few around them.
    assert measured.fail_over.each == 1
    assert measured.registration > 0
    assert {"operations-sweep", "alerts-evaluate", "outbox-drain"} <= measured.beat.keys()
    assert measured.beat_per_s(500) > measured.beat_per_s(5)
