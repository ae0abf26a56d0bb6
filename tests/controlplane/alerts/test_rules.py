"""The table of rules, what overrides make of it, and whom a silence keeps quiet."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from controlplane.alerts.conditions.types import Key
from controlplane.alerts.host_rules import HOST_RULES
from controlplane.alerts.overrides import Match, Resource, Tuning, Tweak, fault
from controlplane.alerts.rules import BY_ID, RULES, Severity
from controlplane.alerts.silencing import Mute, silence_of
from tests.controlplane.alerts.builders import NOW

ASKED_FOR = """group-falling-behind group-stopped group-stalled group-losing-data retention-headroom
partitions-offline partitions-under-replicated partitions-under-min-isr broker-down
broker-restarting disk-filling log-directory-failed controller-missing zookeeper-unreachable
operation-stuck
operation-failed collector-late spark-late certificate-ending key-ending quota-hit"""
README = Path(__file__).resolve().parents[3] / "controlplane" / "alerts" / "README.md"


def test_there_is_a_rule_for_each_and_those_that_nobody_asked_for():
    assert set(BY_ID) == {*ASKED_FOR.split(), "cluster-away", "objective-burning"}
    assert len(RULES) == len(BY_ID)


@pytest.mark.parametrize("rule", [*RULES, *HOST_RULES], ids=lambda rule: rule.id)
def test_a_rule_needs_no_tuning_and_names_its_runbook(rule):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.runbook)
    assert rule.for_s >= 0
    assert rule.clear_s >= 0
    for threshold in rule.thresholds:
        assert threshold.unit
        assert threshold.what
        if threshold.name != "capacity_bytes":
            assert threshold.least <= threshold.default <= threshold.most
            assert fault(rule, {threshold.name: threshold.default}) == ("", "")


def test_the_readme_has_the_table():
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+) \| `([a-z-]+)` \|", README.read_text(), re.MULTILINE
    )
    every = (*RULES, *HOST_RULES)
    assert rows == [(rule.id, str(rule.severity), rule.runbook) for rule in every]


@pytest.mark.parametrize(
    ("thresholds", "name"),
    [
        ({"no-such": 1}, "no-such"),
        ({"lag_s": -1}, "lag_s"),
        ({"lag_s": 1e12}, "lag_s"),
        ({"lag_s": float("nan")}, "lag_s"),
        ({"lag_s": None}, "lag_s"),
    ],
)
def test_a_threshold_out_of_its_bounds_is_named(thresholds, name):
    found, why = fault(BY_ID["group-falling-behind"], thresholds)
    assert found == name
    assert why


def lag_of(tweaks, **thing):
    return Tuning(tweaks).of("group-falling-behind", "kc_1", **thing).thresholds["lag_s"]


def tweak(lag_s, **more):
    return Tweak(rule="group-falling-behind", thresholds={"lag_s": lag_s}, **more)


GROUP, TOPIC = Resource.GROUP, Resource.TOPIC


def test_the_narrowest_override_wins():
    tweaks = [
        tweak(6, cluster_id="kc_1", resource=GROUP, name="billing"),
        tweak(1),
        tweak(2, cluster_id="kc_1"),
        tweak(5, resource=GROUP, match=Match.PREFIX, name="bill"),
        tweak(4, resource=GROUP, match=Match.PREFIX, name="b"),
        tweak(9, cluster_id="kc_2", resource=GROUP, name="billing"),
    ]
    assert [lag_of(tweaks[at:], group="billing") for at in range(6)] == [6, 5, 5, 5, 4, 60]
    assert lag_of(tweaks, group="other") == 2
    assert lag_of(tweaks) == 2
    assert Tuning(tweaks).of("group-falling-behind", "kc_9").thresholds["lag_s"] == 1


def test_an_override_says_only_what_it_sets():
    tweaks = [
        Tweak(rule="group-stopped", severity=Severity.CRITICAL),
        Tweak(rule="group-stopped", resource=TOPIC, name="tmp", enabled=False),
        Tweak(rule="group-stopped", resource=TOPIC, match=Match.PREFIX, name="t", enabled=True),
    ]
    setting = Tuning(tweaks).of("group-stopped", "kc_1", topic="tmp")
    assert (setting.enabled, setting.severity) == (False, Severity.CRITICAL)
    assert setting.thresholds == BY_ID["group-stopped"].defaults
    assert Tuning(tweaks).of("group-stopped", "kc_1", topic="tmp2").enabled
    assert Tuning(tweaks).of("group-stalled", "kc_1", topic="tmp").enabled


KEY = Key("group-stopped", "kc_1", "group/billing")


def mute(**more):
    values = {"id": "si_1", "starts_at": NOW, "ends_at": NOW + timedelta(hours=1)}
    return Mute(**{**values, **more})


@pytest.mark.parametrize(
    ("more", "at_s", "is_quiet"),
    [
        ({}, 0, True),
        ({}, -1, False),
        ({}, 3599, True),
        ({}, 3600, False),
        ({"rule": "group-stopped"}, 0, True),
        ({"rule": "group-stalled"}, 0, False),
        ({"cluster_id": "kc_1"}, 0, True),
        ({"cluster_id": "kc_2"}, 0, False),
        ({"subject": "group/billing"}, 0, True),
        ({"subject": "group/bill"}, 0, False),
        ({"subject": "group/bill", "match": Match.PREFIX}, 0, True),
        ({"subject": "group/*", "match": Match.PREFIX}, 0, False),
    ],
)
def test_a_silence_is_about_what_matches_all_that_it_names(more, at_s, is_quiet):
    found = silence_of([mute(**more)], KEY, NOW + timedelta(seconds=at_s))
    assert found == ("si_1" if is_quiet else "")


def test_of_two_silences_the_longer_one_is_named():
    longer = mute(id="si_2", ends_at=NOW + timedelta(hours=2))
    assert silence_of([longer, mute()], KEY, NOW) == "si_2"
