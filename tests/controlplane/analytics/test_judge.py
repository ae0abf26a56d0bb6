"""Verdicts of the collector where they are stored and read, and what it does not believe."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import collect, judge, services
from controlplane.analytics.conf import conf
from controlplane.analytics.judge import Judge, store
from controlplane.analytics.models import (
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    GroupVerdict,
)
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.times import iso_ms
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.analytics.verdicts.groups import Verdict
from controlplane.analytics.verdicts.intake import is_dense, is_sound
from controlplane.analytics.verdicts.loss import Removal, loss_interval_ms
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP
from spark_analytics.contracts.gold import GROUP_EXPIRY, GROUP_LAG
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Status, Trend
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S
from tests.controlplane.analytics.test_api import get
from tests.spark_analytics.cases import CASES, group_slice, topic_slice

RULES = Rules()


@pytest.fixture
def read(world, publishers):
    """A cluster with a group that has read half of a partition; (lags, retention) as REST has them."""
    world.gateway.add_topic("orders", partitions=1)
    world.gateway.topics["orders"].partitions[0].log_end = 100
    world.gateway.add_group("billing", offsets={TP("orders", 0): 50})

    def found(**asked):
        lag = get(world, f"/clusters/{world.cluster.id}/analytics/lag", latest="true", **asked)
        return lag.json()["data"]

    return found


def test_a_verdict_has_gold_s_columns():
    columns = {field.name for field in GroupVerdict._meta.concrete_fields}
    renamed = {"ts_ms": "sampled_ms"}
    for name in (renamed.get(name, name) for name in GROUP_LAG.column_names):
        assert name in columns
    renamed |= {"method": "expiry_method", "status": "risk"}
    for name in (renamed.get(name, name) for name in GROUP_EXPIRY.column_names):
        assert name in columns


def test_each_sample_is_judged_and_replaces_the_one_before(world, read):
    assert collect.collect_cluster(world.cluster.id)
    (point,) = read()
    assert (point["group"], point["topic"], point["source"]) == ("billing", "orders", "collector")
    assert (point["lag_records"], point["status"]) == (50, "UNKNOWN")
    world.gateway.topics["orders"].partitions[0].log_start = 80
    assert collect.collect_cluster(world.cluster.id)
    (point,) = read()
    assert (point["lost_records"], point["status"]) == (30, "DATA_LOST")
    assert GroupVerdict.objects.count() == 1


def test_a_verdict_says_when_a_newer_one_is_due(world, read):
    assert collect.collect_cluster(world.cluster.id)
    sampled_ms = GroupVerdict.objects.get().sampled_ms
    body = get(world, f"/clusters/{world.cluster.id}/analytics/lag", latest="true").json()
    assert body["as_of"] == iso_ms(sampled_ms)
    assert body["stale_after"] == iso_ms(sampled_ms + 6 * SAMPLE_INTERVAL_S * 1000)


def test_what_is_gone_from_the_cluster_has_no_verdict(world, read):
    assert collect.collect_cluster(world.cluster.id)
    assert GroupVerdict.objects.count() == 1
    world.gateway.delete_group("billing")
    assert collect.collect_cluster(world.cluster.id)
    assert GroupVerdict.objects.count() == 0


def test_verdicts_of_a_cluster_that_nobody_samples_are_forgotten(world, read):
    assert collect.collect_cluster(world.cluster.id)
    services.forget_old(conf())
    assert GroupVerdict.objects.count() == 1
    GroupVerdict.objects.update(judged_at=timezone.now() - timedelta(days=2))
    services.forget_old(conf())
    assert GroupVerdict.objects.count() == 0


def gold_row(world, *, sampled_ms, status):
    return GoldGroupLag.objects.create(
        cluster_id=world.cluster.id,
        group="billing",
        topic="orders",
        ts_ms=sampled_ms // 30_000 * 30_000,
        sampled_ms=sampled_ms,
        partitions=1,
        trend="steady",
        status=status,
        run_id="r",
    )


@pytest.mark.parametrize(
    ("later_ms", "lost", "source"),
    [
        (-60_000, 0, "spark"),  # the verdict, UNKNOWN, knows less
        (-60_000, 30, "collector"),
        (+60_000, 30, "spark"),
    ],
)
def test_the_newer_one_that_knows_is_shown(world, read, later_ms, lost, source):
    world.gateway.topics["orders"].partitions[0].log_start = 50 + lost
    assert collect.collect_cluster(world.cluster.id)
    at_ms = GroupVerdict.objects.get().sampled_ms
    gold_row(world, sampled_ms=at_ms + later_ms, status="STOPPED")
    (point,) = read()
    assert point["source"] == source
    assert point["status"] == ("STOPPED" if source == "spark" else "DATA_LOST")


def test_stopped_is_said_with_the_first_sample_after_it_is_true():
    """Sampled every 10 s; nothing is known before: the delay is one sample at most."""
    evaluator, step_s = Evaluator(RULES, history_is_whole=True), SAMPLE_INTERVAL_S
    found = {}
    for n in range(100):
        at = n * step_s / 60
        end = 1000 + 10 * n
        # Read to the end until second 300, then nobody is there.
        committed = end if n < 30 else 1300
        members = 1 if n < 30 else 0
        evaluator.feed([topic_slice(at, end), group_slice(at, committed, end, members=members)])
        (verdict,) = evaluator.verdicts()
        found[n * step_s] = verdict.status
    first = min(at_s for at_s, status in found.items() if status == Status.STOPPED)
    stuck_since_s = 300
    assert first - stuck_since_s <= RULES.quiet_s + step_s
    assert all(status == Status.STOPPED for at_s, status in found.items() if at_s >= first)


def test_a_clock_that_is_set_back_leaves_no_negative_time():
    evaluator = Evaluator(RULES, history_is_whole=True)
    for one in CASES["clock-back"]:
        evaluator.feed([one])
        for verdict in evaluator.verdicts():
            assert verdict.lag_seconds is None or verdict.lag_seconds >= 0
            assert verdict.lag_records is None or verdict.lag_records == 100
    assert evaluator.verdicts()


def test_a_group_that_is_born_again_begins_again():
    evaluator = Evaluator(RULES, history_is_whole=True)
    for m in range(11):
        evaluator.feed([topic_slice(m, 100 * m), group_slice(m, 0, 100 * m)])
    assert evaluator.verdicts()[0].status != Status.UNKNOWN
    for m in range(11, 23):
        evaluator.feed([topic_slice(m, 100 * m)])
        assert evaluator.verdicts() == []
    evaluator.feed([topic_slice(23, 2300), group_slice(23, 2300, 2300)])
    assert evaluator.verdicts()[0].status == Status.UNKNOWN


def test_the_age_of_what_is_older_than_the_collector_is_not_guessed():
    """Gold may know it; a first sample does not, and says no risk for want of knowing."""
    for whole, risk in ((True, Risk.WATCH), (False, Risk.UNKNOWN)):
        evaluator = Evaluator(RULES, history_is_whole=whole)
        for m in range(5):
            evaluator.feed([topic_slice(m, 100 * m + 1000), group_slice(m, 500, 100 * m + 1000)])
        (verdict,) = evaluator.verdicts()
        assert verdict.risk == risk


def verdict(**more):
    nothing = dict.fromkeys(Verdict.__dataclass_fields__)
    known = {"group": "g", "topic": "t", "status": Status.FALLING_BEHIND, "reasons": ()}
    known |= {"trend": Trend.GROWING, "risk": Risk.AT_RISK, "sampled_ms": 1_000_000}
    return Verdict(**(nothing | known | more))


@pytest.mark.parametrize(
    ("first_loss_s", "ingest", "removal", "expected"),
    [
        (None, 100.0, (10_000, 1_000, 500), (None, None)),
        # The segment is full before it is old.
        (60.0, 1_000.0, (10_000, 1_000, 500), (1_060_000, 1_061_500)),
        (60.0, 1.0, (10_000, 1_000, 500), (1_060_000, 1_070_500)),
        (60.0, None, (10_000, 1_000, 500), (1_060_000, 1_070_500)),
        # How long it may take is not known.
        (60.0, None, (None, 1_000, 500), (1_060_000, None)),
        (60.0, 1_000.0, (10_000, 1_000, None), (1_060_000, None)),
        # The log was cut, so its trend is downwards: nothing fills the segment.
        (60.0, -1_000.0, (10_000, 1_000, 500), (1_060_000, 1_070_500)),
        # Dates end with the year 9999, as retention.ms does not.
        (1.4e12, 100.0, (10_000, 1_000, 500), (None, None)),
        (1.3e16, 100.0, (10_000, 1_000, 500), (None, None)),
        (60.0, None, (2**63 - 1, 1_000, 500), (1_060_000, None)),
    ],
)
def test_a_loss_is_an_interval(first_loss_s, ingest, removal, expected):
    segment_ms, segment_bytes, check_ms = removal
    found = loss_interval_ms(
        verdict(first_loss_in_s=first_loss_s, ingest_bytes_per_s=ingest),
        Removal(segment_ms=segment_ms, segment_bytes=segment_bytes, check_interval_ms=check_ms),
    )
    assert found == expected


@pytest.mark.parametrize("retention_ms", [10**15, 2**63 - 1])
def test_a_topic_that_is_kept_for_ages_stops_neither_the_collector_nor_the_answer(
    world, read, retention_ms
):
    """Its group falls behind, so a first loss is computed, in a year that no date has."""
    assert collect.collect_cluster(world.cluster.id)
    evaluator = Evaluator(RULES, history_is_whole=True)
    for m in range(11):
        end = 100 * m + 1000
        topic = topic_slice(m, end, topic="orders", retention_ms=retention_ms)
        evaluator.feed([topic, group_slice(m, 30 * m + 900, end, group="billing", topic="orders")])
    found = evaluator.verdicts()
    assert [one.first_loss_in_s is None for one in found] == [False]
    sample = Sampler().sample(world.gateway, budget_s=5)
    store(world.cluster.id, sample, found, timezone.now())
    row = GroupVerdict.objects.get()
    assert (row.status, row.loss_from_ms, row.loss_until_ms) == ("FALLING_BEHIND", None, None)
    GoldTopicRetention.objects.create(
        cluster_id=world.cluster.id,
        topic="orders",
        ts_ms=row.sampled_ms - 60_000,
        sampled_ms=row.sampled_ms - 60_000,
        partitions=1,
        run_id="r",
    )
    answer = get(world, f"/clusters/{world.cluster.id}/analytics/retention")
    assert answer.status_code == 200
    ((expiry,),) = [topic["groups"] for topic in answer.json()["data"]]
    assert (expiry["source"], expiry["loss_from"]) == ("collector", None)


BROKEN = [
    {"v": 2},
    {"kind": "share"},
    {"kind": None},
    {"cluster_id": "another"},
    {"topic": 7},
    {"ts_ms": None},
    {"ts_ms": True},
    {"ts_ms": 1e300},
    {"partition": "0"},
    {"partition": [0, 1]},
    {"log_end_offset": ["9"]},
    {"log_end_offset": [2**70]},
    {"log_end_offset": [True]},
    {"retention_ms": "many"},
    {"topic_id": ["x"]},
]


@pytest.mark.parametrize("wrong", BROKEN, ids=str)
def test_telemetry_that_others_wrote_is_not_believed(wrong):
    good = topic_slice(0, 5)
    assert is_sound(good, "c")
    assert not is_sound(good | wrong, "c")


@pytest.mark.parametrize("partitions", [[2**31 - 1], [-1], [0, 0], [1], [], [0, 2]])
def test_partitions_of_any_number_make_no_array_of_that_length(partitions):
    one = {**topic_slice(0, 5), "partition": partitions}
    for name in ("leader_epoch", "log_start_offset", "log_end_offset", "size_bytes"):
        one[name] = [1] * len(partitions)
    one["oldest_ts_ms"] = [1] * len(partitions)
    assert not is_dense(one)
    evaluator = Evaluator(RULES)
    evaluator.feed([one])
    assert evaluator.verdicts() == []


def test_expiries_come_from_the_collector_too(world, read):
    assert collect.collect_cluster(world.cluster.id)
    row = GroupVerdict.objects.get()
    GoldGroupExpiry.objects.create(
        cluster_id=row.cluster_id,
        topic="orders",
        group="billing",
        ts_ms=row.sampled_ms - 60_000,
        lost_records=0,
        status="SAFE",
        run_id="r",
    )
    GroupVerdict.objects.update(risk="AT_RISK", loss_from_ms=1_000, loss_until_ms=2_000)
    GoldTopicRetention.objects.create(
        cluster_id=row.cluster_id,
        topic="orders",
        ts_ms=row.sampled_ms - 60_000,
        sampled_ms=row.sampled_ms - 60_000,
        partitions=1,
        run_id="r",
    )
    (topic,) = get(world, f"/clusters/{row.cluster_id}/analytics/retention").json()["data"]
    (expiry,) = topic["groups"]
    assert (expiry["status"], expiry["source"]) == ("AT_RISK", "collector")
    assert (expiry["loss_from"], expiry["loss_until"]) == (
        "1970-01-01T00:00:01.000Z",
        "1970-01-01T00:00:02.000Z",
    )


@pytest.mark.parametrize("is_computed", [False, True])
def test_a_risk_is_shown_before_a_run_knows_the_topic(world, read, is_computed):
    """Of a new cluster nothing is computed yet; a new topic is in no run of before."""
    if is_computed:
        at_ms = int(timezone.now().timestamp() * 1000) - 60_000
        GoldTopicRetention.objects.create(
            cluster_id=world.cluster.id,
            topic="another",
            ts_ms=at_ms,
            sampled_ms=at_ms,
            partitions=1,
            bytes=7,
            run_id="r",
        )
    assert collect.collect_cluster(world.cluster.id)
    GroupVerdict.objects.update(risk="AT_RISK", loss_from_ms=1_000, loss_until_ms=2_000)
    answer = get(world, f"/clusters/{world.cluster.id}/analytics/retention").json()
    found = {row["topic"]: row for row in answer["data"]}
    assert found.keys() == {"orders", *(["another"] if is_computed else [])}
    orders = found["orders"]
    assert [(row["group"], row["status"]) for row in orders["groups"]] == [("billing", "AT_RISK")]
    unknown = ("bytes", "records", "age_seconds", "retention_ms", "retention_bytes")
    assert [orders[name] for name in unknown] == [None] * 5
    assert orders["partitions"] == 1
    judged = GroupVerdict.objects.get()
    assert orders["ts"] == iso_ms(judged.sampled_ms)
    assert answer["stale_after"] is not None
    assert answer["as_of"] == iso_ms(at_ms if is_computed else judged.sampled_ms)


def test_what_cannot_be_judged_stops_no_sampling(world, read, monkeypatch):
    def break_off(*_, **__):
        raise OverflowError("a number that nobody thought of")

    monkeypatch.setattr(judge, "records_since", lambda *_, **__: {})
    assert collect.collect_cluster(world.cluster.id)
    with monkeypatch.context() as broken:
        broken.setattr(Evaluator, "verdicts", break_off)
        assert collect.collect_cluster(world.cluster.id)
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert (state.samples, state.failures) == (2, 0)
    assert state.last_error == "The sample was taken; its groups could not be judged."
    assert collect.collect_cluster(world.cluster.id)
    state.refresh_from_db()
    assert (state.samples, state.last_error) == (3, "")


def test_earlier_samples_that_cannot_be_read_are_said(world, read, monkeypatch):
    """The collector was somewhere else: here nothing is known of what it sampled there."""

    def away(*_, **__):
        raise GatewayError("broker-unreachable", "nobody there " * 100)

    def said():
        assert collect.collect_cluster(world.cluster.id)
        state = CollectorState.objects.get(pk=world.cluster.id)
        assert state.failures == 0
        return state.last_error

    monkeypatch.setattr(judge, "records_since", away)
    # Nothing was sampled before the first one.
    assert said() == ""
    collect._forget(world.cluster.id)  # noqa: SLF001 - as if in another process
    for _ in range(2):
        assert said().startswith("Earlier samples could not be read, so trends begin later: ")
    collect._forget(world.cluster.id)  # noqa: SLF001 - as if in another process
    monkeypatch.setattr(judge, "records_since", lambda *_, **__: {})
    assert said() == ""


class Killed(BaseException):
    """Raised where a process would be gone."""


def test_a_sample_whose_collector_was_killed_before_its_verdict_is_caught_up(
    world, read, monkeypatch
):
    """Killed between publishing and judging: this process has missed a sample that nobody counted."""
    asked = []

    def records_since(_spec, since_ms, **_):
        asked.append(since_ms)
        return {}

    def killed(*_, **__):
        raise Killed

    monkeypatch.setattr(judge, "records_since", records_since)
    assert collect.collect_cluster(world.cluster.id)
    here = collect._watches.pop(world.cluster.id)  # noqa: SLF001 - the other process has its own
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(judge.Judge, "see", killed)
        with pytest.raises(Killed):
            collect.collect_cluster(world.cluster.id)
    collect._watches[world.cluster.id] = here  # noqa: SLF001 - back in this process
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert state.samples == 1, "the dead counted nothing"
    assert asked == []
    held = CollectorState.objects.exclude(lease_token="")
    assert held.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert not collect.collect_cluster(world.cluster.id), "the dead hold the lease until it ends"
    CollectorState.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    last_ms = here.judge.evaluator.last_ts_ms
    assert collect.collect_cluster(world.cluster.id)
    assert asked == [last_ms + 1]
    assert collect.collect_cluster(world.cluster.id)
    assert len(asked) == 1, "it has seen the one before itself"


def test_a_claim_on_what_somebody_has_begun_meanwhile_is_none(world, read, monkeypatch):
    """Between looking at the state and claiming it another process took a whole sample."""
    made = CollectorState.objects.get_or_create

    def overtaken(**key):
        found = made(**key)
        CollectorState.objects.update(last_started_at=timezone.now(), samples=9)
        return found

    monkeypatch.setattr(CollectorState.objects, "get_or_create", overtaken)
    assert collect.collect_cluster(world.cluster.id) is False
    state = CollectorState.objects.get(pk=world.cluster.id)
    assert (state.samples, state.lease_token) == (9, "")


def test_trends_are_whole_again_when_they_look_no_further_back(monkeypatch):
    def away(*_, **__):
        raise GatewayError("broker-unreachable", "nobody there")

    monkeypatch.setattr(judge, "records_since", away)
    made = Judge(cluster_id="c")
    rows = [topic_slice(0, 10), group_slice(0, 5, 10)]
    now = timezone.now()
    spec = ConnectionSpec(bootstrap_servers=("a:1",))
    made.see(spec, rows, began=now, before=now - timedelta(seconds=10))
    at_ms = rows[0]["ts_ms"]
    assert made.shortfall(at_ms + RULES.trend_s * 1000 - 1)
    assert made.shortfall(at_ms + RULES.trend_s * 1000) == ""
