"""One alert by cause, with what it explains counted inside."""

from controlplane.alerts.conditions.types import Condition, Key
from controlplane.alerts.grouping import ALERTS_A_RULE, bounded
from controlplane.alerts.rules import Severity
from tests.controlplane.alerts.builders import (
    broker,
    causes,
    cluster,
    holding,
    series,
    trouble,
    with_groups,
)

DOWN = (broker(1), broker(2, live=False), broker(3))


def behind(topics, per_topic, brokers=(2,)):
    return tuple(trouble(f"t{at}", behind={brokers: per_topic}) for at in range(topics))


def test_a_brokers_death_with_200_partitions_is_one_alert():
    dead = cluster(brokers=DOWN, troubles=behind(20, 10), controller_id=None)
    assert len(holding(dead)) == 3
    found = causes(dead)
    assert set(found) == {"broker-down"}
    rows = {row.rule: row.count for row in found["broker-down"].consequences}
    assert rows == {"partitions-under-replicated": 200, "controller-missing": 1}
    assert "(200)" in found["broker-down"].summary
    assert found["broker-down"].severity == "warning", "every partition is written and read"


def test_it_is_critical_where_writes_fail():
    for part in ("offline", "refusing"):
        dead = cluster(brokers=DOWN, troubles=(trouble("t", **{part: {(2,): 1}}),))
        assert causes(dead)["broker-down"].severity == "critical"


def test_partitions_that_lack_another_broker_too_are_an_alert_of_their_own():
    mixed = cluster(brokers=DOWN, troubles=(*behind(2, 10), trouble("x", behind={(2, 3): 4})))
    found = causes(mixed)
    assert found["partitions-under-replicated"].count == 4
    assert found["partitions-under-replicated"].values["partitions"] == 4
    assert [row.count for row in found["broker-down"].consequences] == [20]


def test_partitions_that_lack_no_broker_are_not_explained():
    odd = cluster(brokers=DOWN, troubles=(trouble("x", offline={(): 1}),))
    assert set(causes(odd)) == {"broker-down", "partitions-offline"}


def test_a_broker_that_is_back_explains_replicas_that_still_catch_up():
    back = cluster(troubles=behind(2, 10))
    key = Key("broker-down", "kc_1")
    assert set(causes(back)) == {"partitions-under-replicated"}
    assert causes(back, raised={key}, lingering={key: frozenset({2})}) == {}


def test_what_is_raised_stays_an_alert_of_its_own():
    dead = cluster(brokers=DOWN, troubles=behind(20, 10))
    found = causes(dead, raised={Key("partitions-under-replicated", "kc_1")})
    assert found["partitions-under-replicated"].count == 200


def test_a_cluster_that_is_away_explains_its_collector():
    away = cluster(
        away="it does not answer", is_refusing=True, brokers=None, troubles=None, sampled_at=None
    )
    other = cluster(id="kc_2", name="other", sampled_at=None)
    found = [(key, each.key.cluster_id) for key, each in causes(away, other).items()]
    assert found == [("cluster-away", "kc_1"), ("collector-late", "kc_2")]


def test_zookeeper_explains_a_missing_controller_of_managed_clusters():
    lost = cluster(controller_id=None)
    assert set(causes(lost, zookeeper="away")) == {"zookeeper-unreachable"}
    elsewhere = cluster(controller_id=None, is_managed=False)
    assert "controller-missing" in causes(elsewhere, zookeeper="away")


def test_a_group_that_loses_data_is_one_alert():
    row = series(status="STOPPED", risk="LOSING", lost_records=3)
    found = causes(with_groups(row, series(group="other", status="STOPPED")))
    assert {(rule, each.key.subject) for rule, each in found.items()} == {
        ("group-losing-data", "group/billing"),
        ("group-stopped", "group/other"),
    }
    assert [row.rule for row in found["group-losing-data"].consequences] == ["group-stopped"]


def many(count):
    return [
        Condition(
            key=Key("group-stopped", "kc_1", f"group/g{at:04d}"),
            severity=Severity.CRITICAL if at == 150 else Severity.WARNING,
            summary="s",
        )
        for at in range(count)
    ]


def test_beyond_a_bound_the_others_share_one():
    assert len(bounded(many(ALERTS_A_RULE), ())) == ALERTS_A_RULE
    found = bounded(many(200), {Key("group-stopped", "kc_1", "group/g0199")})
    assert len(found) == ALERTS_A_RULE + 1
    keys = [each.key.subject for each in found]
    assert keys[0] == "group/g0199", "what is raised keeps its own"
    assert keys[1] == "group/g0150", "the worst come first"
    assert (found[-1].key.subject, found[-1].count) == ("", 150)


def test_the_bound_is_of_a_rule_on_a_cluster():
    rows = many(40) + [
        Condition(
            key=Key("group-stopped", "kc_2", row.key.subject), severity=row.severity, summary=""
        )
        for row in many(40)
    ]
    assert len(bounded(rows, ())) == 80
