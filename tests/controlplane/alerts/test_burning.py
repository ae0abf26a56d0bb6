"""The rule `objective-burning`: facts, conditions, what explains a burn, rounds, and REST."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from controlplane.alerts import evaluation, facts, facts_burns
from controlplane.alerts.conditions.types import Key
from controlplane.alerts.fact_types import BurnFact, BurnFacts
from controlplane.alerts.models import Alert, BurnCount
from controlplane.alerts.overrides import Match, Resource, Tuning, Tweak
from controlplane.alerts.rules import BY_ID, Severity
from controlplane.analytics.insights import burning
from controlplane.analytics.models import CollectorState, GoldGroupLag, LagObjective
from controlplane.gateway.types import TP
from controlplane.notifications import services as notifications
from controlplane.observed.models import ObservedCluster
from controlplane.runbooks.catalogue import catalogue
from tests.controlplane.alerts.builders import causes, cluster, holding, judge, series, with_groups
from tests.controlplane.analytics.rows import WINDOW_MS, lag_row
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

RULE = "objective-burning"
FAST = {"burn_5m": 20.0, "burn_1h": 20.0, "burn_30m": 20.0, "burn_6h": 3.0}
SLOW = {"burn_5m": 7.0, "burn_1h": 7.0, "burn_30m": 7.0, "burn_6h": 7.0}
SOME_LEFT = 0.9


def burn(**more):
    values = {
        "group": "billing",
        "topic": "orders",
        "objective_id": "lo_1",
        "seconds": 60.0,
        "share": 0.99,
        "budget_left": SOME_LEFT,
    }
    return BurnFact(**{**values, **more})


def burnt(*rows, whole=True, **more):
    return cluster(burns=BurnFacts(rows=rows, whole=whole), **more)


# -- conditions ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("row", "severity"),
    [
        (FAST, "warning"),
        ({**FAST, "budget_left": 0.0}, "critical"),
        ({**FAST, "budget_left": -2.0}, "critical"),
        ({**FAST, "budget_left": 0.35}, "critical"),  # 0.35 of 14 days at 20: 5.9 h
        ({**FAST, "budget_left": 0.36}, "warning"),
        ({**FAST, "budget_left": None}, "warning"),
        (SLOW, "info"),
        ({**SLOW, "budget_left": 0.1}, "info"),
        ({**SLOW, "budget_left": -0.1}, "warning"),
    ],
)
def test_severity_is_by_what_is_left_of_the_budget(row, severity):
    found = holding(burnt(burn(**row)))[RULE]
    assert found.severity == severity
    assert found.key == Key(RULE, "kc_1", "group/billing")
    assert found.touches == (("group", "billing"), ("topic", "orders"))
    assert found.values["verdict"] == ("fast_burn" if row["burn_1h"] == 20 else "slow_burn")
    assert "60 s for 99 % of the time" in found.summary


@pytest.mark.parametrize(
    "row",
    [
        {**FAST, "burn_5m": 14.3, "burn_30m": 1.0},  # it was; it is over
        {**FAST, "burn_1h": 14.3, "burn_6h": 5.9},
        {**SLOW, "burn_6h": 5.9},
        {**SLOW, "burn_30m": 5.9},
    ],
)
def test_both_windows_have_to_burn(row):
    verdict = judge(burnt(burn(**row)))
    assert [each for each in verdict.holds if each.key.rule == RULE] == []
    assert [each for each in verdict.unknown if each.rule == RULE] == []


@pytest.mark.parametrize(
    "row",
    [
        {**FAST, "burn_5m": None, "burn_30m": None},
        {**SLOW, "burn_6h": None},
        dict.fromkeys(FAST, None),
    ],
)
def test_what_too_little_is_known_of_neither_burns_nor_does_not(row):
    verdict = judge(burnt(burn(**row)))
    assert RULE not in {each.key.rule for each in verdict.holds}
    assert [(each.rule, each.subject) for each in verdict.unknown if each.rule == RULE] == [
        (RULE, "group/billing")
    ]


def test_nothing_counted_is_unknown_and_no_objective_is_not():
    said = judge(cluster(burns=None, burns_unknown_because="not computed lately")).unknown
    assert [(each.subject, each.reason) for each in said if each.rule == RULE] == [
        (None, "not computed lately")
    ]
    assert RULE not in {each.rule for each in judge(cluster()).unknown}
    assert RULE in {each.rule for each in judge(burnt(whole=False)).unknown}


def test_a_group_is_one_alert_and_its_worst_topic_speaks():
    rows = [burn(**SLOW, topic="a"), burn(**FAST, topic="b", budget_left=0.0), burn(**FAST)]
    found = holding(burnt(*rows))[RULE]
    assert (found.severity, found.members) == ("critical", ("b", "orders", "a"))
    assert (found.count, found.values["topic"]) == (3, "b")
    assert "the budget is spent" in found.summary


@pytest.mark.parametrize(
    ("tweak", "severity"),
    [
        ({"enabled": False}, None),
        ({"thresholds": {"fast_rate": 30.0, "slow_rate": 30.0}}, None),
        ({"thresholds": {"critical_in_s": 0}}, "warning"),
        ({"severity": Severity.INFO}, "info"),
        ({"enabled": False, "resource": Resource.GROUP, "name": "bill"}, "critical"),
        (
            {
                "enabled": False,
                "resource": Resource.TOPIC,
                "name": "ord",
                "match": Match.PREFIX,
            },
            None,
        ),
    ],
)
def test_an_override_changes_rates_severity_and_whether_it_is_asked(tweak, severity):
    tuning = Tuning([Tweak(rule=RULE, **tweak)])
    found = holding(burnt(burn(**{**FAST, "budget_left": 0.1})), tuning=tuning)
    assert (found[RULE].severity if RULE in found else None) == severity


# -- by cause -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ({"status": "STOPPED"}, "group-stopped"),
        ({"status": "STALLED"}, "group-stalled"),
        ({"status": "FALLING_BEHIND", "lag_s": 300.0}, "group-falling-behind"),
        ({"status": "STOPPED", "risk": "LOSING", "lost_records": 1}, "group-losing-data"),
    ],
)
def test_a_group_s_trouble_explains_its_burn_and_is_as_bad(row, rule):
    late = with_groups(series(**row)).groups
    found = causes(burnt(burn(**{**FAST, "budget_left": 0.0}), groups=late))
    assert set(found) == {rule}
    assert (RULE, 1) in {(each.rule, each.count) for each in found[rule].consequences}
    assert found[rule].severity == "critical"
    mild = causes(burnt(burn(**SLOW), groups=with_groups(series(status="STOPPED")).groups))
    assert mild["group-stopped"].severity == "warning", "a mild burn makes nothing milder"


def test_another_topic_or_group_explains_nothing():
    stopped = with_groups(series(status="STOPPED", topic="other")).groups
    assert set(causes(burnt(burn(**FAST), groups=stopped))) == {"group-stopped", RULE}
    stopped = with_groups(series(status="STOPPED", group="other")).groups
    assert set(causes(burnt(burn(**FAST), groups=stopped))) == {"group-stopped", RULE}


def test_a_cause_inside_another_hands_its_burn_on():
    """It loses records of one topic, and is stopped on that and on the one that burns."""
    late = with_groups(
        series(status="STOPPED", topic="a", risk="LOSING", lost_records=1),
        series(status="STOPPED"),
    ).groups
    found = causes(burnt(burn(**FAST), groups=late))
    assert set(found) == {"group-losing-data"}
    assert {each.rule for each in found["group-losing-data"].consequences} == {
        "group-stopped",
        RULE,
    }


def test_a_burn_that_is_raised_stays_an_alert_of_its_own():
    stopped = with_groups(series(status="STOPPED")).groups
    key = Key(RULE, "kc_1", "group/billing")
    assert set(causes(burnt(burn(**FAST), groups=stopped), raised={key})) == {
        "group-stopped",
        RULE,
    }


# -- facts --------------------------------------------------------------------------------------
class Gold:
    """Windows up to a minute ago, as runs leave them."""

    def __init__(self, cluster_id):
        self.cluster_id = cluster_id
        now_ms = int(timezone.now().timestamp() * 1000)
        self.last_ms = now_ms - now_ms % WINDOW_MS - 60_000

    def write(self, group="billing", late=90.0, topic="orders", windows=800, run="run_1"):
        at = {"group": group, "topic": topic, "lag_seconds": late}
        GoldGroupLag.objects.bulk_create(
            GoldGroupLag(
                **lag_row(self.cluster_id, self.last_ms - back * WINDOW_MS, **at), run_id=run
            )
            for back in range(windows)
        )


@pytest.fixture
def gold(world):
    return Gold(world.cluster.id)


def objective(world, **more):
    values = {"group": "billing", "seconds": 60.0, "share": 0.99, "created_by": "x", **more}
    return LagObjective.objects.create(tenant=world.tenant, **values)


def burns_of(world, now=None):
    (tenant,) = (
        each for each in facts.read(now or timezone.now(), {}).tenants if each.id == world.tenant.id
    )
    return next(each for each in tenant.clusters if each.id == world.cluster.id)


def test_the_objective_that_all_have_pages_nobody(world, gold):
    gold.write()
    assert burns_of(world).burns == BurnFacts()
    assert not BurnCount.objects.exists(), "nothing is counted where nobody set an objective"
    objective(world, group="another")
    assert burns_of(world).burns == BurnFacts()


def test_a_burn_is_counted_with_what_is_left_of_the_budget(world, gold):
    made = objective(world)
    gold.write()
    gold.write("idle", late=1.0)
    (found,) = burns_of(world).burns.rows
    assert (found.group, found.topic, found.objective_id) == ("billing", "orders", made.id)
    rates = [found.burn_5m, found.burn_30m, found.burn_1h, found.burn_6h]
    assert rates == pytest.approx([100.0] * 4)
    assert found.budget_left == pytest.approx(-99.0)


def test_what_burns_too_slowly_for_any_threshold_is_not_read(world, gold):
    objective(world, share=0.5)
    gold.write(late=1.0)
    assert burns_of(world).burns == BurnFacts()
    assert {each.least for each in BY_ID[RULE].thresholds if each.unit == "times"} == {
        burning.RATE_LEAST
    }


def test_another_tenant_s_objective_burns_nobody_else_s_groups(world, gold):
    gold.write()
    rival = tenant_make("rival")
    cluster_make(rival, name="theirs")
    LagObjective.objects.create(
        tenant=rival, cluster_id=world.cluster.id, seconds=1, share=0.99, created_by="x"
    )
    assert burns_of(world).burns == BurnFacts()


def test_it_is_counted_once_for_a_window_and_again_when_anything_changes(world, gold, monkeypatch):
    made = objective(world)
    gold.write()
    counted = []
    count = facts_burns.burning

    def counting(*given):
        counted.append(given)
        return count(*given)

    monkeypatch.setattr(facts_burns, "burning", counting)
    for _ in range(3):
        assert len(burns_of(world).burns.rows) == 1
    assert len(counted) == 1
    made.seconds = 100.0
    made.save()
    assert burns_of(world).burns == BurnFacts()
    assert len(counted) == 2
    gold.last_ms += WINDOW_MS
    gold.write(late=900.0, windows=1, run="run_2")
    assert len(burns_of(world).burns.rows) == 0
    assert len(counted) == 3
    GoldGroupLag.objects.update(run_id="run_3", lag_seconds=900.0)
    assert len(burns_of(world).burns.rows) == 1, "the same windows, computed anew"


def test_old_windows_say_nothing_of_now(world, gold):
    objective(world)
    assert burns_of(world).burns is None
    assert burns_of(world).burns_unknown_because == "its groups' lag has not been computed yet"
    gold.write()
    late = burns_of(world, timezone.now() + timedelta(hours=1))
    assert (late.burns, late.burns_unknown_because) == (
        None,
        "its groups' lag was not computed lately",
    )


def test_a_count_that_the_database_ends_leaves_what_was_known_and_fails_nobody(
    world, gold, monkeypatch
):
    objective(world)
    gold.write()
    before = burns_of(world).burns

    tried = []

    def cancelled(*given):
        tried.append(given)
        raise OperationalError("canceling statement")

    monkeypatch.setattr(facts_burns, "burning", cancelled)
    GoldGroupLag.objects.update(run_id="run_2")
    for _ in range(3):
        assert burns_of(world).burns == before
    assert len(tried) == 1, "once for a window, so that no round waits for it again"
    BurnCount.objects.all().delete()
    assert burns_of(world).burns is None


def test_a_round_counts_for_so_long_and_goes_on_with_the_others(world, gold, monkeypatch):
    other = cluster_make(world.tenant, name="other", kind="registered")
    objective(world)
    gold.write()
    Gold(other.id).write()
    monkeypatch.setattr(facts_burns, "COUNTING_S", -1.0)
    burns_of(world)
    assert BurnCount.objects.count() == 1, "one at least"
    burns_of(world)
    assert BurnCount.objects.count() == 2, "the one that was counted is looked at last"


def test_counts_of_clusters_that_are_gone_go(world, gold):
    objective(world)
    gold.write()
    burns_of(world)
    assert facts_burns.forget([world.cluster.id]) == 0
    assert facts_burns.forget([]) == 1


def test_more_than_the_bound_is_said_to_be_more(world, gold, monkeypatch):
    objective(world, group="")
    for at in range(4):
        gold.write(f"g{at}", windows=100, late=90.0 if at else 1.0)
    monkeypatch.setattr(burning, "ROWS_MAX", 2)
    monkeypatch.setattr(burning, "BUDGETS_MAX", 1)
    found = burns_of(world).burns
    assert [each.group for each in found.rows] == ["g1", "g2"]
    assert not found.whole
    assert [each.budget_left is None for each in found.rows] == [False, True]


# -- rounds and REST ----------------------------------------------------------------------------
def test_from_the_burn_to_its_end_by_rest(world, gold, monkeypatch):
    told = []
    monkeypatch.setattr(notifications, "publish_all", told.extend)
    world.gateway.add_topic("orders")
    CollectorState.objects.create(cluster_id=world.cluster.id)
    observed(world)
    objective(world)
    gold.write()
    gold.write("audit")
    now = timezone.now()

    def round_at(after_s):
        at = now + timedelta(seconds=after_s)
        ObservedCluster.objects.update(due_at=at)
        CollectorState.objects.update(last_sample_at=at)
        found = evaluation.evaluate(at)
        assert found is not None
        assert found.failed_tenants == 0

    def shown():
        answer = client_for(world.tenant, "viewer").get("/api/v1/alerts", {"rule": RULE})
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    round_at(0)
    assert shown() == []
    round_at(60)
    (row,) = shown()
    assert (row["state"], row["severity"], row["subject"]) == (
        "firing",
        "critical",
        "group/billing",
    )
    assert (row["runbook"], row["values"]["budget_ends_in_s"]) == (RULE, 0)
    assert [(event.rule, event.state) for event in told] == [(RULE, "firing")]

    GoldGroupLag.objects.update(lag_seconds=1.0, run_id="run_2")
    round_at(70)
    assert shown()[0]["clearing"]
    round_at(660)
    assert shown()[0]["state"] == "firing", "it has to be over for ten minutes"
    GoldGroupLag.objects.filter(ts_ms=gold.last_ms).update(
        sampled_ms=gold.last_ms + 600_000, run_id="run_3"
    )
    round_at(675)
    (row,) = shown()
    assert row["state"] == "resolved"
    assert [event.state for event in told] == ["firing", "resolved"]
    assert Alert.objects.filter(rule=RULE).count() == 1


def test_the_rule_is_listed_and_takes_overrides(world):
    client = client_for(world.tenant)
    rows = client.get("/api/v1/alert-rules").json()["data"]
    (row,) = (each for each in rows if each["id"] == RULE)
    assert (row["severity"], row["runbook"], row["enabled"]) == ("info", RULE, True)
    assert {each["name"]: each["default"] for each in row["thresholds"]} == {
        "fast_rate": 14.4,
        "slow_rate": 6.0,
        "critical_in_s": 21_600.0,
    }
    given = {"rule": RULE, "thresholds": {"fast_rate": 0.5}}
    refused = client.post("/api/v1/alert-overrides", given, format="json")
    assert refused.status_code == 422, refused.content
    given = {"rule": RULE, "thresholds": {"fast_rate": 20.0}, "severity": "critical"}
    assert client.post("/api/v1/alert-overrides", given, format="json").status_code == 201


@pytest.mark.parametrize(
    ("late", "more", "said"),
    [
        (90.0, {}, "bad: On orders it burns fast, 100.0 times too fast. -9900% of"),
        (90.0, {"share": 0.9}, "bad: On orders it burns slowly, 10.0 times too fast."),
        (1.0, {}, "ok: No objective is burning. 100% of the 14 days' budget is left."),
        (None, {}, "unknown: Too little is known of its lag on orders."),
        (90.0, {"topic": "other"}, "unknown: Nobody has set an objective for it"),
    ],
)
def test_the_runbook_asks_how_fast_the_budget_goes(world, gold, late, more, said):
    world.gateway.add_topic("orders")
    world.gateway.add_group("billing", {TP("orders", 0): 0})
    observed(world)
    gold.write(late=late)
    objective(world, **more)
    client = client_for(world.tenant)
    about = {"cluster_id": world.cluster.id, "group": "billing", "topic": "orders"}
    run = client.post(f"/api/v1/runbooks/{RULE}/runs", about, format="json").json()
    checks = catalogue()[RULE].checks
    number = next(block.number for block in checks if block.name == "group-objective")
    path = f"/api/v1/runbook-runs/{run['id']}/checks/{number}"
    answer = client.post(path, {}, format="json")
    assert answer.status_code in {200, 201}, answer.content
    found = answer.json()
    assert f"{found['outcome']}: {found['text']}".startswith(said)


def test_a_topic_of_which_nothing_is_known_holds_up_no_other(monkeypatch):
    """Its partition is offline for days: it is in no row, and what is half known is in one."""
    nothing = dict.fromkeys(("burn_5m", "burn_30m", "burn_1h", "burn_6h"))
    rows = [
        {"group": "g", "topic": "offline", **nothing},
        {"group": "g", "topic": "half-known", **nothing, "burn_5m": 20.0},
    ]
    monkeypatch.setattr(burning.objectives, "near", lambda *_: rows)
    found, is_all = burning.burning("kc_1", 0, [])
    assert ([row["topic"] for row in found], is_all) == (["half-known"], True)
