"""Each rule over facts: when it holds, when it does not, and when nobody knows."""

from datetime import timedelta

import pytest

from controlplane.alerts.conditions.disks import growth
from controlplane.alerts.fact_types import KeyFact, LimitFact, OperationFact
from controlplane.alerts.overrides import Match, Resource, Tuning, Tweak
from controlplane.alerts.rules import BY_ID
from tests.controlplane.alerts.builders import (
    NOW,
    ago,
    broker,
    cluster,
    holding,
    judge,
    series,
    trouble,
    unknown,
    with_groups,
)

DAY_S = 86_400


def test_of_a_cluster_that_is_well_nothing_holds():
    found = judge(cluster(), zookeeper="")
    assert found.holds == []
    assert unknown(cluster()) == {"disk-filling"}, "what the disks hold nobody has said"


def test_of_a_cluster_that_does_not_answer_everything_else_is_unknown():
    away = cluster(
        away="it does not answer",
        is_refusing=True,
        brokers=None,
        troubles=None,
        groups=None,
        burns=None,
    )
    found = holding(away)
    assert set(found) == {"cluster-away"}
    assert found["cluster-away"].severity == "critical"
    asked = {rule.id for rule in BY_ID.values() if rule.reach in {"cluster", "group", "topic"}}
    assert unknown(away) == asked - {"cluster-away", "collector-late", "certificate-ending"}


def test_that_nobody_looks_is_no_proof_of_harm():
    found = holding(cluster(away="nobody has looked at it for a while", brokers=None))
    assert found["cluster-away"].severity == "warning"


def test_brokers_that_are_not_in_the_cluster():
    one = holding(cluster(brokers=(broker(1), broker(2, live=False))))["broker-down"]
    assert (one.severity, one.members, one.brokers) == ("warning", ("2",), {2})
    assert "broker 2 is not in the cluster" in one.summary
    two = cluster(brokers=(broker(1, live=False), broker(2, live=False), broker(3)))
    assert holding(two)["broker-down"].severity == "critical"


def test_no_controller():
    assert holding(cluster(controller_id=None))["controller-missing"].severity == "critical"
    found = holding(cluster(controller_id=99))["controller-missing"]
    assert "99, named controller, is gone" in found.summary


def starts(*pairs):
    return (broker(1, starts=tuple((ago(seconds=s), count) for s, count in pairs)), broker(2))


@pytest.mark.parametrize(
    ("pairs", "holds"),
    [
        ([(600, 0), (500, 1), (300, 2), (100, 3)], True),
        ([(600, 0), (500, 1), (300, 2)], False),
        ([(3000, 0), (2900, 1), (2800, 2), (2700, 3)], False),
        ([(3000, 5), (100, 8)], True),
        ([(600, 7), (100, 0)], False),
        ([(100, 9)], False),
    ],
)
def test_a_broker_that_is_started_again_and_again(pairs, holds):
    found = holding(cluster(brokers=starts(*pairs)))
    assert ("broker-restarting" in found) == holds
    if holds:
        assert found["broker-restarting"].brokers == {1}


def test_without_agents_restarts_are_unknown_and_elsewhere_nobody_counts():
    assert "broker-restarting" in unknown(cluster(agents_known=False))
    assert "broker-restarting" not in unknown(cluster(agents_known=False, is_managed=False))


@pytest.mark.parametrize(
    ("part", "rule", "severity"),
    [
        ("offline", "partitions-offline", "critical"),
        ("behind", "partitions-under-replicated", "warning"),
        ("refusing", "partitions-under-min-isr", "critical"),
    ],
)
def test_partitions_in_trouble(part, rule, severity):
    found = holding(cluster(troubles=(trouble("orders", **{part: {(2,): 3}}),)))
    assert set(found) == {rule}
    assert (found[rule].severity, found[rule].count) == (severity, 3)
    assert found[rule].members == ("orders-0", "orders-1", "orders-2")
    assert "3 partitions" in found[rule].summary
    off = Tuning([Tweak(rule=rule, resource=Resource.TOPIC, name="orders", enabled=False)])
    assert holding(cluster(troubles=(trouble("orders", **{part: {(2,): 3}}),)), tuning=off) == {}


def test_topics_that_could_not_be_read_are_unknown():
    found = {"partitions-offline", "partitions-under-replicated", "partitions-under-min-isr"}
    assert found <= unknown(cluster(troubles=None))
    assert "partitions-under-min-isr" in unknown(cluster(min_isr_known=False))


# -- disks ----------------------------------------------------------------------------------
HOLDS = Tuning([Tweak(rule="disk-filling", thresholds={"capacity_bytes": 1_000_000})])


def filling(size, per_hour, hours=6):
    sizes = tuple(
        (ago(hours=hours - at), size - per_hour * (hours - at)) for at in range(hours + 1)
    )
    return cluster(brokers=(broker(1, size_bytes=size, sizes=sizes), broker(2)))


@pytest.mark.parametrize(
    ("size", "per_hour", "severity"),
    [
        (500_000, 0, None),
        (500_000, -10_000, None),
        (500_000, 2_000, None),  # full in 10 days
        (500_000, 4_000, "warning"),  # in 5
        (500_000, 25_000, "critical"),  # in 20 hours
        (810_000, 0, "warning"),
        (910_000, 0, "critical"),
        (1_200_000, 0, "critical"),
    ],
)
def test_a_disk_fills_up(size, per_hour, severity):
    found = holding(filling(size, per_hour), tuning=HOLDS)
    assert [each.severity for each in found.values()] == ([severity] if severity else [])


def test_the_day_on_which_it_is_full_is_said():
    found = holding(filling(500_000, 25_000), tuning=HOLDS)["disk-filling"]
    assert found.values["full_in_s"] == 20 * 3600
    assert found.values["full_at"] == (NOW + timedelta(hours=20)).isoformat(timespec="minutes")
    assert "full on 2026-03-02 at 08:00 UTC" in found.summary


def test_a_disk_whose_size_nobody_says_is_unknown_not_empty():
    assert "disk-filling" in unknown(filling(10**12, 0))
    silent = cluster(brokers=(broker(1, size_bytes=None), broker(2)))
    assert "disk-filling" in unknown(silent, tuning=HOLDS)
    full = cluster(brokers=(broker(1, size_bytes=None), broker(2, size_bytes=950_000)))
    assert "disk-filling" in holding(full, tuning=HOLDS)


@pytest.mark.parametrize(
    ("used_share", "per_hour", "severity"),
    [(0.5, 0, None), (0.81, 0, "warning"), (0.95, 0, "critical"), (0.5, 25_000, "critical")],
)
def test_what_a_broker_says_of_its_disk_needs_no_override(used_share, per_hour, severity):
    """Others write to the disk too: what its logs hold is not what is used."""
    usable = 1_000_000 - round(used_share * 1_000_000)
    disk = {"disk_total_bytes": 1_000_000, "disk_usable_bytes": usable}
    sizes = tuple((ago(hours=6 - at), per_hour * at) for at in range(7))
    brokers = (broker(1, size_bytes=1, sizes=sizes, **disk), broker(2, size_bytes=1, **disk))
    for tuning in (Tuning([]), HOLDS):
        found = holding(cluster(brokers=brokers), tuning=tuning)
        assert [each.severity for each in found.values()] == ([severity] if severity else [])
        assert "disk-filling" not in unknown(cluster(brokers=brokers), tuning=tuning)
    brokers = (brokers[0], broker(2))
    assert ("disk-filling" in unknown(cluster(brokers=brokers))) == (severity is None)


def test_the_fullest_disk_names_its_largest_topic():
    def disk(usable, topic):
        return {"disk_total_bytes": 100, "disk_usable_bytes": usable, "largest_topic": topic}

    brokers = (broker(1, **disk(14, "orders")), broker(2, **disk(12, "clicks")), broker(3))
    found = holding(cluster(brokers=brokers))["disk-filling"]
    assert found.values["topic"] == "clicks"
    assert "the largest topic on broker 2 is clicks" in found.summary
    nobody_knows = cluster(brokers=(broker(1, **disk(12, None)), broker(2), broker(3)))
    found = holding(nobody_knows)["disk-filling"]
    assert found.values["topic"] is None
    assert "largest" not in found.summary


def test_growth_is_not_led_astray_by_deleted_segments():
    points = [(ago(hours=24 - at), at * 100) for at in range(24)]
    points[20] = (points[20][0], 0)
    assert growth(points) == pytest.approx(100 / 3600, rel=0.05)
    assert growth(points[:3]) is None, "too few"
    assert growth([(ago(minutes=30 - at), at) for at in range(20)]) is None, "too short"
    assert growth([(NOW, 1)] * 10) is None


# -- groups ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("row", "rule", "severity"),
    [
        ({"status": "FALLING_BEHIND", "lag_s": 300.0}, "group-falling-behind", "warning"),
        ({"status": "FALLING_BEHIND", "lag_s": None}, "group-falling-behind", "warning"),
        ({"status": "STOPPED"}, "group-stopped", "warning"),
        ({"status": "STOPPED", "lag_records": None}, "group-stopped", "warning"),
        ({"status": "STALLED"}, "group-stalled", "warning"),
        ({"status": "NOT_COMMITTING"}, "group-stalled", "warning"),
        ({"status": "DATA_LOST", "lost_records": 7}, "group-losing-data", "critical"),
        ({"risk": "LOSING"}, "group-losing-data", "critical"),
        ({"risk": "AT_RISK", "first_loss_in_s": 7200.0}, "group-losing-data", "warning"),
        ({"risk": "AT_RISK", "first_loss_in_s": 1800.0}, "group-losing-data", "critical"),
        ({"risk": "AT_RISK", "first_loss_in_s": None}, "group-losing-data", "warning"),
    ],
)
def test_a_group_in_trouble(row, rule, severity):
    found = holding(with_groups(series(**row)))
    assert set(found) == {rule}
    assert found[rule].severity == severity
    assert found[rule].key.subject == "group/billing"
    assert found[rule].touches == (("group", "billing"), ("topic", "orders"))
    assert "billing" in found[rule].summary


@pytest.mark.parametrize(
    "row",
    [
        {"status": "CAUGHT_UP"},
        {"status": "CATCHING_UP"},
        {"status": "LAGGING"},
        {"status": "NO_COMMIT"},
        {"status": "FALLING_BEHIND", "lag_s": 10.0},
        {"status": "STOPPED", "lag_records": 0},
        {"risk": "SAFE"},
        {"risk": "AT_RISK", "first_loss_in_s": 2.0 * DAY_S},
    ],
)
def test_a_group_that_needs_nobody(row):
    assert holding(with_groups(series(**row))) == {}


def test_a_group_is_one_alert_whatever_the_number_of_its_topics():
    rows = [series(status="STOPPED", topic=f"t{at}", lag_records=at + 1) for at in range(70)]
    found = judge(with_groups(*rows)).holds
    assert len(found) == 1
    assert (found[0].count, len(found[0].members)) == (70, 50)
    assert found[0].values["topic"] == "t69", "the one with the greatest lag speaks"


@pytest.mark.parametrize(
    ("risk", "left_s", "holds"),
    [("WATCH", 600, True), ("WATCH", 900, False), ("SAFE", 600, False), ("AT_RISK", 600, True)],
)
def test_retention_that_leaves_little_time(risk, left_s, holds):
    row = series(risk=risk, expires_in_s=float(left_s), retention_s=3600.0)
    found = holding(with_groups(row))
    assert ("retention-headroom" in found) == holds
    if holds:
        assert found["retention-headroom"].key.subject == "topic/orders"
        assert found["retention-headroom"].members == ("billing",)


def test_what_was_not_judged_is_unknown():
    asked = {rule.id for rule in BY_ID.values() if rule.reach in {"group", "topic"}}
    assert asked <= unknown(cluster(groups=None, burns=None))
    row = series(status="UNKNOWN", risk="UNKNOWN")
    subjects = {each.subject for each in judge(with_groups(row)).unknown}
    assert {"group/billing", "topic/orders"} <= subjects
    missing = judge(with_groups(missing=["gone-quiet"])).unknown
    assert {each.rule for each in missing if each.subject == "group/gone-quiet"} == asked - {
        "retention-headroom",
        "objective-burning",
    }


def test_an_override_of_a_group_or_a_topic():
    row = series(status="FALLING_BEHIND", lag_s=300.0)
    for resource, name in ((Resource.GROUP, "bill"), (Resource.TOPIC, "ord")):
        tweak = Tweak(
            rule="group-falling-behind",
            resource=resource,
            match=Match.PREFIX,
            name=name,
            thresholds={"lag_s": 600},
        )
        assert holding(with_groups(row), tuning=Tuning([tweak])) == {}
        assert holding(with_groups(series(status="STOPPED")), tuning=Tuning([tweak]))


# -- operations -----------------------------------------------------------------------------
def operation(**more):
    values = {"id": "op_1", "kind": "topic.create", "resource": "topic/orders", "state": "running"}
    return OperationFact(**{**values, "cluster_id": "kc_1", **more})


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({}, None),
        ({"due_since": ago(seconds=100)}, None),
        ({"due_since": ago(seconds=121)}, "warning"),
        ({"due_since": ago(seconds=121), "rolling_back": True}, "critical"),
        ({"step": "move", "step_since": ago(hours=5)}, None),
        ({"step": "move", "step_since": ago(hours=7)}, "warning"),
    ],
)
def test_an_operation_that_does_not_move(more, severity):
    found = holding(cluster(), operations=(operation(**more),))
    assert [each.severity for each in found.values()] == ([severity] if severity else [])
    assert set(found) <= {"operation-stuck"}


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({"finished_at": ago(minutes=30)}, "warning"),
        ({"finished_at": ago(minutes=90)}, None),
        ({"finished_at": ago(days=3), "remains": ("a limit is left",)}, "critical"),
        ({"finished_at": ago(days=8), "remains": ("a limit is left",)}, None),
    ],
)
def test_an_operation_that_failed(more, severity):
    found = holding(cluster(), operations=(operation(state="failed", **more),))
    assert [each.severity for each in found.values()] == ([severity] if severity else [])
    for each in found.values():
        assert each.key.subject == "operation/op_1"
        assert ("a limit is left" in each.summary) == ("remains" in more)


# -- the service itself ---------------------------------------------------------------------
def test_a_collector_that_is_late():
    found = holding(cluster(sampled_at=ago(seconds=121), sample_error="no answer"))
    assert set(found) == {"collector-late"}
    assert "no answer" in found["collector-late"].summary
    assert "collector-late" in holding(cluster(sampled_at=None))
    assert holding(cluster(sampled_at=None, created_at=ago(seconds=60), judged_at=ago())) == {}


def test_spark_is_late_where_there_are_samples_to_judge():
    late = cluster(judged_at=ago(seconds=1201))
    assert set(holding(late)) == {"spark-late"}
    without = cluster(judged_at=ago(hours=1), sampled_at=ago(hours=1), id="kc_2", name="other")
    found = holding(late, without)
    assert found["spark-late"].members == ("main",)
    assert "collector-late" in found


def test_zookeeper_that_does_not_answer():
    assert holding(cluster(), zookeeper="no connection")["zookeeper-unreachable"].count == 1
    assert holding(cluster(), zookeeper="") == {}
    assert holding(cluster(), zookeeper=None) == {}


@pytest.mark.parametrize(
    ("days", "severity"), [(21, None), (19, "warning"), (2, "critical"), (-1, "critical")]
)
def test_a_certificate_that_ends(days, severity):
    found = holding(cluster(certificates=((1, ago(days=-days)), (2, ago(days=-80)))))
    assert [each.severity for each in found.values()] == ([severity] if severity else [])
    away = cluster(certificates=((1, ago(days=-2)),), brokers=None, away="x", troubles=None)
    assert "certificate-ending" in holding(away), "it stands in our own tables"


@pytest.mark.parametrize(
    ("made", "ends", "holds"),
    [(100, 6, True), (100, 8, False), (9, 1, True), (1, 6, False), (100, -1, False)],
)
def test_a_key_that_ends(made, ends, holds):
    key = KeyFact(name="ci", made_at=ago(days=made), ends_at=ago(days=-ends))
    assert ("key-ending" in holding(cluster(), keys=(key,))) == holds


@pytest.mark.parametrize(
    ("used", "severity"), [(89, None), (90, "info"), (100, "warning"), (120, "warning")]
)
def test_a_share_that_is_used_up(used, severity):
    found = holding(cluster(), limits=(LimitFact("clusters", used, 100), LimitFact("x", 1, 0)))
    assert [each.severity for each in found.values()] == ([severity] if severity else [])
