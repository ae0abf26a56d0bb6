"""What lists of groups are made of, beside a plain reading of the same rules over random rows."""

import random

import pytest

from controlplane.analytics.judged import newer, word_of, worst_of
from controlplane.analytics.last_gold import EXPIRY_OF_GOLD, LAG_OF_GOLD, last_rows, newest_lag
from controlplane.analytics.latest import Latest
from controlplane.analytics.lists import LagFacts, by_collector_or_spark, worst_expiries
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.analytics.newest import is_replaced
from controlplane.analytics.selectors import PRESENT_WITHIN_S
from controlplane.analytics.standings import standings_of
from controlplane.groups.diagnosis import harm_of, worse_severity
from spark_analytics.contracts.statuses import RISK_SEVERITY, Risk, Severity, Status, rank
from tests.controlplane.support import cluster_make, tenant_make

SEEDS = range(20)
T0_MS, WINDOW_MS, WINDOWS = 1_760_000_010_000, 30_000, 14
STATUSES, RISKS = [*Status, "OF_A_NEWER_VERSION"], [*Risk, "OF_A_NEWER_VERSION"]
BAD = {Severity.WARNING, Severity.DANGER}


def maybe(rng, value):
    return None if rng.random() < 0.3 else value


def lag_row(rng, series):
    seconds = [maybe(rng, float(rng.randrange(6))) for _ in range(4)]
    counts = [maybe(rng, rng.randrange(3)) for _ in range(2)]
    return (*series, str(rng.choice(STATUSES)), rng.randrange(5), *counts, *seconds, rng.random())


def expiry_row(rng, series):
    seconds = [maybe(rng, float(rng.randrange(4))) for _ in range(2)]
    return (*series, str(rng.choice(RISKS)), rng.randrange(5), *seconds, rng.random())


def some_series(rng):
    return [(f"g{a}", f"t{b}") for a in range(12) for b in range(4) if rng.random() < 0.5]


def counts_of(kept, row):
    """Of gold's row and the collector's, each perhaps None, the one that counts."""
    if kept is None or row is None:
        return kept or row
    return row if is_replaced(row[2], row[3], kept[3]) else kept


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rows_that_count_are_the_collectors_or_golds(seed):
    rng = random.Random(seed)
    gold = {series: lag_row(rng, series) for series in some_series(rng)}
    live = {series: lag_row(rng, series) for series in some_series(rng)}
    by_collector, by_spark = by_collector_or_spark(gold, live.values())
    expected = {one: counts_of(gold.get(one), live.get(one)) for one in {*gold, *live}}
    assert {row[:2]: row for row in (*by_collector, *by_spark)} == expected
    assert len(by_collector) + len(by_spark) == len(expected)
    assert all(row is live[row[:2]] for row in by_collector)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_group_is_judged_by_its_worst_topic(seed):
    rng = random.Random(seed)
    lags = {series: lag_row(rng, series) for series in some_series(rng)}
    risks = {series[::-1]: expiry_row(rng, series[::-1]) for series in some_series(rng)}
    live = {series: lag_row(rng, series) for series in some_series(rng)}
    live_risks = {series: str(rng.choice(RISKS)) for series in live}
    live_rows = [
        (*series, row[2], row[3], row[6], row[7], live_risks[series])
        for series, row in live.items()
    ]
    found = worst_of(newer(live_rows, lags, risks))

    expected = {}
    for series in [*live, *(one for one in lags if one not in live)]:
        lag = counts_of(lags.get(series), live.get(series))
        expiry, said = risks.get(series[::-1]), None
        if series in live:
            said = (*series[::-1], live_risks[series], live[series][3])
        counted = counts_of(expiry, said)
        status = word_of(Status, lag[2])
        risk = word_of(Risk, None if counted is None else counted[2])
        lag_s = lag[6] if lag[6] is not None else lag[7]
        one = harm_of(status, risk), lag_s, worse_severity(status, risk) in BAD
        expected[series[0]] = max(expected.get(series[0], one), one, key=lambda each: each[0])
    assert found == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_topic_is_judged_by_the_group_that_loses_first(seed):
    rng = random.Random(seed)
    rows = [expiry_row(rng, series[::-1]) for series in some_series(rng)]
    rng.shuffle(rows)
    expected = {}
    for topic, group, risk, _, first_s, expires_s, _ in rows:
        word = word_of(Risk, risk)
        is_bad = RISK_SEVERITY[word] in BAD
        left_s = float("inf") if first_s is None else first_s
        if is_bad or expires_s is not None:
            expected.setdefault(topic, []).append((not is_bad, -rank(word), left_s, group))
    found = {topic: row.group for topic, row in worst_expiries(rows).items()}
    assert found == {topic: min(of_topic)[-1] for topic, of_topic in expected.items()}


def test_columns_are_those_of_the_facts():
    rows = {"group": "g", "topic": "t", "status": "STALLED", "sampled_ms": 1, "lag_records": 2}
    rows |= {"uncommitted_records": 3, "lag_seconds": None, "lag_seconds_at_least": 4.0}
    rows |= {"trend_records_per_s": 5.0, "eta_seconds": 6.0, "pk": 7}
    facts = LagFacts._make(rows[column] for column in LAG_OF_GOLD)
    assert (facts.unread, facts.seconds, facts.trend, facts.eta_s) == (5, 4.0, 5.0, 6.0)
    assert facts._replace(records=None, uncommitted=0).unread is None


@pytest.fixture
def cluster():
    """Of an id of its own: what is kept outlives a test."""
    return cluster_make(tenant_make("acme"), name="main")


def fill(cluster, rng):
    for group, topic in some_series(rng):
        about = {"cluster_id": cluster.pk, "group": group, "topic": topic}
        lag = {"partitions": 1, "trend": "steady", "status": rng.choice([*Status])}
        for window in range(WINDOWS):
            if rng.random() < 0.3:
                at = {"ts_ms": T0_MS + window * WINDOW_MS, "run_id": "r1"}
                GoldGroupLag.objects.create(**about, **at, **lag, sampled_ms=at["ts_ms"])
                if rng.random() < 0.5:
                    risk = rng.choice([*Risk])
                    GoldGroupExpiry.objects.create(**about, **at, status=risk, lost_records=0)
        if rng.random() < 0.6:
            window = rng.choice([5, WINDOWS - 1, WINDOWS, WINDOWS])
            GroupVerdict.objects.create(
                **about, **lag, sampled_ms=T0_MS + window * WINDOW_MS, risk=rng.choice([*Risk]),
                judged_at="2026-01-01T00:00:00Z",
            )  # fmt: skip


def expected_of(cluster, model, word, at, groups):
    """By series (model, pk) of the row that counts: of all rows, read one by one."""
    newest_ms = max(GoldGroupLag.objects.values_list("ts_ms", flat=True))
    rows = {}
    for row in model.objects.filter(cluster_id=cluster.pk, group__in=groups).order_by("ts_ms"):
        if row.ts_ms > newest_ms - PRESENT_WITHIN_S * 1000:
            rows[row.group, row.topic] = (model, row.pk), getattr(row, at)
    for said in GroupVerdict.objects.filter(cluster_id=cluster.pk, group__in=groups):
        kept = rows.get((said.group, said.topic))
        if kept is None or is_replaced(getattr(said, word), said.sampled_ms, kept[1]):
            rows[said.group, said.topic] = (GroupVerdict, said.pk), None
    return {series: row[0] for series, row in rows.items()}


def identified(rows):
    return {(row.group, row.topic): (type(row), row.pk) for row in rows}


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_whole_rows_are_the_same_whether_gold_is_kept_or_not(cluster, seed):
    fill(cluster, random.Random(seed))
    groups = [f"g{number}" for number in range(0, 12, 2)]
    lags = expected_of(cluster, GoldGroupLag, "status", "sampled_ms", groups)
    expiries = expected_of(cluster, GoldGroupExpiry, "risk", "ts_ms", groups)
    newest = newest_lag(cluster.pk)
    first = Latest(cluster.pk, groups, newest)
    assert (identified(first.lags), identified(first.expiries)) == (lags, expiries)
    assert [(row.group, row.topic) for row in first.lags] == sorted(lags)
    keep(cluster, newest)
    again = Latest(cluster.pk, groups, newest)
    assert (identified(again.lags), identified(again.expiries)) == (lags, expiries)
    assert standings_of(again) == standings_of(first)


def keep(cluster, newest):
    last_rows(GoldGroupLag, cluster.pk, newest.ts_ms, LAG_OF_GOLD)
    last_rows(GoldGroupExpiry, cluster.pk, newest.ts_ms, EXPIRY_OF_GOLD)


def gold_and_verdict(cluster):
    about = {"cluster_id": cluster.pk, "group": "g", "topic": "t", "partitions": 1}
    about |= {"trend": "steady", "status": "STALLED"}
    GoldGroupLag.objects.create(**about, ts_ms=T0_MS, sampled_ms=T0_MS, run_id="r1")
    GroupVerdict.objects.create(
        **about, sampled_ms=T0_MS + 1, risk="SAFE", judged_at="2026-01-01T00:00:00Z"
    )
    newest = newest_lag(cluster.pk)
    keep(cluster, newest)
    return newest


@pytest.mark.django_db
def test_gold_that_is_replaced_is_not_read(cluster, django_assert_num_queries):
    newest = gold_and_verdict(cluster)
    with django_assert_num_queries(1):
        (row,) = Latest(cluster.pk, ["g"], newest).lags
    assert isinstance(row, GroupVerdict)


@pytest.mark.django_db
def test_rows_that_a_run_puts_in_the_place_of_kept_ones_are_found(cluster):
    newest = gold_and_verdict(cluster)
    GroupVerdict.objects.update(status="UNKNOWN")
    before = GoldGroupLag(pk=newest.pk, ts_ms=newest.ts_ms, run_id=newest.run_id)
    GoldGroupLag.objects.all().delete()
    newest.pk = None
    newest.save()
    (row,) = Latest(cluster.pk, ["g"], before).lags
    assert row.pk == newest.pk != before.pk
