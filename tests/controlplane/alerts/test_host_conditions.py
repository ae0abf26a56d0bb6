"""What the rules say of hosts: what holds, how bad it is, and what nobody knows."""

from datetime import timedelta

import pytest

from controlplane.alerts.conditions.hosts import judge, subject_of
from controlplane.alerts.fact_types import HostFact, OperatorFacts
from controlplane.alerts.host_rules import EVERY_BY_ID, HOST_RULES, PREFIX
from controlplane.alerts.overrides import Tuning, fault
from controlplane.alerts.rules import BY_ID, Reach
from controlplane.clusters.capacity import Capacity, DirectoryRoom
from controlplane.clusters.placing import STALE_S
from tests.controlplane.alerts.builders import NOW

GIB = 2**30


def directory(name, free, total=100, volume=""):
    return DirectoryRoom(name=name, total_bytes=total, free_bytes=free, volume=volume or name)


def room(**more):
    values = {
        "directories": (directory("main", 50),),
        "memory_total_bytes": 8 * GIB,
        "memory_free_bytes": 4 * GIB,
        "cores": 4,
        "load": 1.0,
        "ports_busy": (),
    }
    return Capacity(**{**values, **more})


def host(name="h1", **more):
    values = {"alive": True, "capacity": room(), "capacity_age_s": 10.0, "ports_free": 90}
    return HostFact(id=name, **{**values, **more})


def verdict(*hosts, **more):
    return judge(OperatorFacts(**{"hosts": hosts, **more}), Tuning(), NOW)


def holding(*hosts, **more):
    """By rule and host."""
    found = verdict(*hosts, **more).holds
    assert len({each.key for each in found}) == len(found)
    return {(each.key.rule, each.key.subject.removeprefix("host/")): each for each in found}


def unknown(*hosts, **more):
    return {(each.rule, each.subject) for each in verdict(*hosts, **more).unknown}


def test_host_rules_are_apart_from_tenants_and_named_so():
    assert not set(BY_ID) & {rule.id for rule in HOST_RULES}
    assert set(EVERY_BY_ID) == {*BY_ID, *(rule.id for rule in HOST_RULES)}
    for rule in EVERY_BY_ID.values():
        assert rule.id.startswith(PREFIX) == (rule.reach is Reach.HOST)
    for rule in HOST_RULES:
        for name, default in rule.defaults.items():
            assert fault(rule, {name: default}) == ("", "")


def test_of_hosts_that_are_well_nothing_holds_and_all_is_known():
    found = verdict(host(), host("h2", brokers=3))
    assert (found.holds, found.unknown) == ([], [])


def test_a_silent_host_is_said_and_nothing_is_known_of_what_it_has_left():
    gone = host(alive=False, brokers=2)
    found = holding(gone, host("h2"))
    assert set(found) == {("host-silent", "h1")}
    one = found["host-silent", "h1"]
    assert (one.severity, one.values) == ("warning", {"brokers": 2})
    assert one.summary == "h1: its agent is not heard; 2 brokers are to run there."
    subject = subject_of("h1")
    assert unknown(gone) == {("host-disk-filling", subject), ("host-resources-low", subject)}


def test_several_silent_hosts_with_brokers_are_critical_as_nothing_heals_them():
    found = holding(
        host("a", alive=False, brokers=1), host("b", alive=False, brokers=1), host("c", alive=False)
    )
    assert {name: one.severity for (_, name), one in found.items()} == {
        "a": "critical",
        "b": "critical",
        "c": "warning",
    }
    assert "other hosts are silent too" in found["host-silent", "a"].summary


@pytest.mark.parametrize(
    ("more", "is_said"),
    [
        ({"state": "lost", "brokers": 1}, False),
        ({"state": "cordoned"}, False),
        ({"state": "draining"}, False),
        ({"state": "cordoned", "brokers": 1}, True),
        ({"state": "draining", "brokers": 1}, True),
        ({}, True),
    ],
)
def test_of_a_host_that_was_given_up_nobody_is_told(more, is_said):
    assert bool(holding(host(alive=False, **more))) is is_said


@pytest.mark.parametrize(
    ("directories", "severity"),
    [
        ((directory("main", 21),), None),
        ((directory("main", 20),), "warning"),
        ((directory("main", 10),), "critical"),
        ((directory("main", 50), directory("fast", 5)), "critical"),
    ],
)
def test_a_disk_is_judged_by_its_fullest_file_system(directories, severity):
    found = holding(host(capacity=room(directories=directories)))
    assert {each.severity for each in found.values()} == ({severity} if severity else set())


def test_directories_of_one_file_system_are_said_once():
    both = (directory("main", 5, volume="8:1"), directory("fast", 5, volume="8:1"))
    one = holding(host(capacity=room(directories=both)))["host-disk-filling", "h1"]
    assert one.summary == "h1: data directories are full to main 95%."


def test_an_agent_that_knows_of_one_directory_alone_is_asked_for_that():
    old = room(directories=(), disk_total_bytes=100, disk_free_bytes=5)
    assert ("host-disk-filling", "h1") in holding(host(capacity=old))


def test_what_one_directory_does_not_say_is_unknown_unless_another_is_full():
    mute = DirectoryRoom(name="fast", problem="cannot be read")
    subject = subject_of("h1")
    half = host(capacity=room(directories=(directory("main", 50), mute)))
    assert unknown(half) == {("host-disk-filling", subject)}
    full = host(capacity=room(directories=(directory("main", 5), mute)))
    assert ("host-disk-filling", "h1") in holding(full)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"capacity": room(memory_free_bytes=GIB // 2)}, "6% of its memory is left"),
        ({"capacity": room(load=8.0)}, "its load is 2.0 a core"),
        ({"ports_free": 1}, "1 port is free for new brokers"),
    ],
)
def test_what_a_host_lacks_is_named(more, said):
    found = holding(host(**more))
    assert set(found) == {("host-resources-low", "h1")}
    assert found["host-resources-low", "h1"].summary == f"h1: {said}."


def test_a_host_that_takes_no_new_brokers_needs_no_ports():
    assert not holding(host(state="cordoned", brokers=1, ports_free=0))


def test_figures_that_an_agent_does_not_say_are_unknown_and_never_enough():
    subject = subject_of("h1")
    assert unknown(host(ports_free=None)) == {("host-resources-low", subject)}
    assert unknown(host(capacity=room(load=None))) == {("host-resources-low", subject)}


@pytest.mark.parametrize("age_s", [None, STALE_S + 1])
def test_an_old_report_or_none_is_unknown(age_s):
    full = room(directories=(directory("main", 1),))
    stale = host(capacity=full, capacity_age_s=age_s)
    assert not holding(stale)
    assert {rule for rule, _ in unknown(stale)} == {"host-disk-filling", "host-resources-low"}


def test_without_zookeeper_that_speaks_and_all_that_agents_say_is_unknown():
    found = verdict(hosts=None, unknown_because="no answer")
    assert [(each.key.rule, each.severity) for each in found.holds] == [
        ("host-registry-away", "critical")
    ]
    assert {(each.rule, each.subject) for each in found.unknown} == {
        ("host-silent", None),
        ("host-disk-filling", None),
        ("host-resources-low", None),
    }


@pytest.mark.parametrize(
    ("days", "severity", "said"),
    [(21, None, ""), (19, "warning", "ends in 19 days"), (2, "critical", "ends in 2 days")],
)
def test_the_first_certificate_of_a_host_counts_also_without_zookeeper(days, severity, said):
    ends = (("kc_1-1", NOW + timedelta(days=days)), ("kc_1-2", NOW + timedelta(days=60)))
    found = holding(hosts=None, certificates={"h1": ends})
    one = found.get(("host-certificate-ending", "h1"))
    assert (one and one.severity) == severity
    if one:
        assert one.members == ("kc_1-1",)
        assert said in one.summary


def test_a_certificate_that_has_ended_is_said_so():
    ends = (("kc_1-1", NOW - timedelta(days=1)),)
    one = holding(host(), certificates={"h1": ends})["host-certificate-ending", "h1"]
    assert "the first certificate has ended" in one.summary
