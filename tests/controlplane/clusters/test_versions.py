"""Which version a cluster's brokers may run: rules over what agents say."""

import json

import pytest

from controlplane.clusters.models import Cluster
from controlplane.clusters.versions import (
    NAME,
    NOT_KNOWN,
    OWN,
    Installed,
    Release,
    offer,
    offers,
    one_of,
    parse_versions,
    raised_to,
    way_back,
)
from dataplane.agent.versions import NAME as OWN_NAME
from dataplane.agent.versions import OWN as agents_word

ROW = {"name": "2", "software": "2.0", "digest": "a" * 64, "oldest": "3.2-IV0", "newest": "3.9-IV0"}


def release(name="2", *, digest="a", oldest="3.2-IV0", newest="3.9-IV0"):
    return Release(name=name, software=name, digest=digest * 64, oldest=oldest, newest=newest)


def host(*releases, **refused):
    return Installed(releases=releases, refused=tuple(refused.items()))


def said(**changed):
    return parse_versions(json.dumps({"v": 1, **changed}).encode(), reported_at_ms=5)


def test_what_a_new_cluster_runs_is_what_the_agents_are_of():
    assert Cluster().version == OWN == agents_word
    assert OWN_NAME.pattern == NAME.pattern


# -- what agents write
def test_what_an_agent_says_is_taken_as_far_as_it_can_be_meant():
    found = said(versions=[ROW, {**ROW, "name": "../x"}, {**ROW, "digest": "zz"}, 7, {}])
    assert [each.name for each in found.releases] == ["2"]
    assert (found.reported_at_ms, found.is_known) == (5, True)


@pytest.mark.parametrize("field", ["oldest", "newest"])
def test_a_protocol_that_is_none_of_kafkas_makes_no_release(field):
    assert said(versions=[{**ROW, field: "9.9"}]).releases == ()


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"versions": 5}', b"\xff"])
def test_what_cannot_be_understood_is_not_known_and_not_none(data):
    assert parse_versions(data, reported_at_ms=5) == NOT_KNOWN


def test_what_is_written_without_end_is_cut():
    found = said(
        versions=[{**ROW, "name": f"v{n}", "software": "x" * 999} for n in range(999)],
        refused={f"r{n}": "y" * 999 for n in range(999)},
    )
    assert len(found.releases) == 50
    assert len(found.releases[0].software) == 50
    assert len(found.refused) == 20
    assert len(found.refused[0][1]) == 200


# -- how one stands with a cluster
def test_one_that_every_host_has_and_that_speaks_what_the_brokers_do():
    found = offer("2", {"h1": host(release()), "h2": host(release())}, "3.8")
    assert (found.why_not, found.code, found.release) == (None, "", release())


def test_hosts_that_lack_it_are_counted_with_the_reason():
    hosts = {
        "h1": host(release()),
        "h2": host(**{"2": "2 may be written by others: chmod go-w"}),
        "h3": host(),
    }
    found = offer("2", hosts, "3.9")
    assert (found.code, found.missing_on) == ("version-missing", ("h2", "h3"))
    assert (
        found.why_not
        == "Not on 2 of the 3 hosts of its brokers: 2 may be written by others: chmod go-w."
    )


def test_a_host_that_never_said_it_is_not_known():
    found = offer("2", {"h1": host(release()), "h2": NOT_KNOWN}, "3.9")
    assert (found.code, found.unknown_on, found.release) == ("versions-unknown", ("h2",), None)


def test_one_name_with_two_contents_is_refused():
    found = offer("2", {"h1": host(release()), "h2": host(release(digest="b"))}, "3.9")
    assert found.code == "version-differs"


@pytest.mark.parametrize(
    ("protocol", "code"),
    [
        ("3.8", ""),
        ("3.4-IV0", ""),
        ("3.9", "version-too-old"),
        ("3.3", "version-too-new"),
        (None, "protocol-unknown"),
        ("nonsense", "protocol-unknown"),
    ],
)
def test_a_version_has_to_speak_what_the_brokers_speak(protocol, code):
    hosts = {"h1": host(release(oldest="3.4-IV0", newest="3.8-IV0"))}
    found = offer("2", hosts, protocol)
    assert found.code == code
    assert (found.why_not is None) == (code == "")


def test_offers_are_of_what_any_host_has_the_agents_own_first():
    hosts = {"h1": host(release("agent"), release("2")), "h2": host(release("agent"), release("1"))}
    assert [(each.name, each.code) for each in offers(hosts, "3.9")] == [
        ("agent", ""),
        ("1", "version-missing"),
        ("2", "version-missing"),
    ]


# -- the way back
def test_until_the_protocol_is_raised_there_is_a_way_back():
    old, new = release("1", newest="3.8-IV0"), release("2")
    found = way_back(offer("1", {"h": host(old, new)}, "3.8"), new, "3.8")
    assert found.is_open
    assert "until the protocol is raised by cluster.finalize_version" in found.text


def test_where_both_know_the_same_protocols_there_is_one_at_any_time():
    found = way_back(offer("1", {"h": host(release("1"))}, "3.9"), release("2"), "3.9")
    assert found.is_open
    assert "at any time" in found.text


def test_without_the_old_one_on_the_hosts_there_is_none():
    found = way_back(offer("1", {"h": host(release("2"))}, "3.9"), release("2"), "3.9")
    assert (found.is_open, "Not on 1 of the 1 host of its brokers" in found.text) == (False, True)


def test_only_a_later_protocol_is_one_to_raise_to():
    assert raised_to(release(), "3.8") == "3.9-IV0"
    assert raised_to(release(), "3.9") is raised_to(release(newest="3.5"), "3.9") is None


def test_what_all_say_is_known_and_nothing_else():
    assert one_of(["a", "a"]) == "a"
    assert one_of(["a", "b"]) is one_of(["a", None]) is one_of([]) is None
