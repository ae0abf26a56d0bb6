"""Whether a host has the release that a broker is to run: the rule, and every plan that places."""

from dataclasses import replace

import pytest

from controlplane.administration.selectors import plan_placement
from controlplane.clusters.fake_hosts import RELEASES
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.placing import place, refusal
from controlplane.clusters.release_fit import ANY, CODES, Wanted, lack, unlike, wanted
from controlplane.clusters.versions import NOT_KNOWN, OWN, Installed
from controlplane.common.problems import Conflict
from controlplane.healing.draining import drain_round
from controlplane.healing.models import HostDrain
from tests.controlplane.clusters.test_placing import GIB, host
from tests.controlplane.clusters.test_replacing import brokers  # noqa: F401 - a fixture
from tests.controlplane.support import ACTOR, drive, step

NEW = "0.2.0"
ALL = Installed(releases=RELEASES)
WITHOUT = Installed(releases=tuple(each for each in RELEASES if each.name != NEW))
(OTHER,) = (replace(each, digest="f" * 64) for each in RELEASES if each.name == NEW)
BROKEN = Installed(releases=WITHOUT.releases, refused=((NEW, "Others may write to it."),))


def test_what_is_wanted_follows_from_where_the_brokers_are():
    assert wanted(NEW, "3.8-IV0", [ALL, ALL]) == Wanted(
        name=NEW, digest="c" * 64, protocol="3.8-IV0", newest="3.9-IV0"
    )
    unlike_hosts = [ALL, Installed(releases=(OTHER,))]
    assert wanted(NEW, "", unlike_hosts).digest == "", "none of them says which is meant"
    assert wanted(NEW, "", [NOT_KNOWN]) == Wanted(name=NEW)
    assert wanted(OWN, "", [ALL]).digest == "", "agents are brought to another release one by one"


@pytest.mark.parametrize(
    ("installed", "wants", "code", "said"),
    [
        (ALL, Wanted(name=NEW, digest="c" * 64, protocol="3.9-IV0"), None, ""),
        (NOT_KNOWN, ANY, None, ""),
        (NOT_KNOWN, Wanted(protocol="3.8-IV0"), "versions-unknown", "its agent has not said"),
        (NOT_KNOWN, Wanted(name=NEW), "versions-unknown", f"version {NEW} of the broker is not"),
        (WITHOUT, Wanted(name=NEW), "no-version", f"does not have version {NEW} of the broker."),
        (BROKEN, Wanted(name=NEW), "no-version", "of the broker: Others may write to it."),
        (
            Installed(releases=(OTHER,)),
            Wanted(name=NEW, digest="c" * 64),
            "version-differs",
            "other contents",
        ),
        (
            ALL,
            Wanted(name="0.0.9", protocol="3.9-IV0"),
            "protocol-differs",
            "speaks 3.2-IV0 to 3.8-IV0, the cluster 3.9-IV0.",
        ),
        (ALL, Wanted(protocol="no such"), "protocol-differs", "the cluster no such"),
        # Brokers that were not told which protocol to speak speak their release's newest.
        (ALL, Wanted(newest="3.8-IV0"), "protocol-differs", "would speak 3.9-IV0"),
        (ALL, Wanted(newest="3.9-IV0"), None, ""),
        (Installed(), ANY, None, ""),
        (Installed(), Wanted(protocol="3.9-IV0"), "no-version", f"version {OWN}"),
    ],
)
def test_what_a_host_lacks(installed, wants, code, said):
    found = lack(installed, wants)
    assert (found and found.about) == code
    assert code is None or code in CODES
    assert found is None or said in found.text


def test_hosts_that_would_not_understand_each_other_are_seen():
    old = Installed(releases=(replace(RELEASES[0], newest="3.8-IV0"),))
    assert unlike([ALL, old, NOT_KNOWN]) == ["3.8-IV0", "3.9-IV0"]
    assert unlike([ALL, ALL, NOT_KNOWN]) == []


def test_a_host_without_it_is_passed_over_with_the_reason():
    wants = Wanted(name=NEW)
    hosts = [host("a", installed=WITHOUT), host("b", installed=ALL, brokers=40)]
    decision = place(hosts, broker_ids=[1], disk_min_bytes=GIB, wants=wants)
    assert [row.host_id for row in decision.placed] == ["b"]
    assert [(row.host_id, row.code) for row in decision.refused] == [("a", "no-version")]
    assert refusal(hosts[0], disk_min_bytes=GIB) is None, "any other cluster goes there"


# -- in plans and operations
@pytest.fixture
def newer(brokers):  # noqa: F811 - the fixture
    """A cluster of version NEW on hosts 1 to 3, with a fourth host that does not have it."""
    Cluster.objects.filter(pk=brokers.cluster.pk).update(version=NEW, protocol_version="3.8-IV0")
    brokers.hosts.releases["host-4"] = WITHOUT
    return brokers


def test_a_new_broker_goes_where_the_version_is(newer):
    plan = newer.plan("cluster.add_brokers", count=1)
    (placed,) = plan.preconditions["placement"]
    assert placed["host_id"] != "host-4", "which has none of its brokers and would be next"
    (refused,) = plan_placement(plan.pk)["refused"]
    assert refused == {
        "host_id": "host-4",
        "code": "no-version",
        "text": f"It does not have version {NEW} of the broker.",
        "text_code": "no-version",
        "params": {"version": NEW},
    }
    assert "host-4" not in str(plan.diff)


def test_a_broker_that_nobody_else_has_the_version_for_stays(newer):
    for name in ("host-1", "host-3"):
        newer.hosts.releases[name] = WITHOUT
    with pytest.raises(Conflict) as caught:
        newer.plan("cluster.replace_broker", broker=2)
    assert caught.value.code == "no-capacity"
    assert f"Hosts without version {NEW} of the broker do not count." in caught.value.detail
    assert "host-" not in caught.value.detail


def test_a_broker_of_its_own_version_wants_that_one(newer):
    """As an upgrade that ended half-way leaves it."""
    Broker.objects.filter(broker_id=2).update(version="0.0.9")
    plan = newer.plan("cluster.replace_broker", broker=2)
    assert plan.preconditions["placement"][0]["host_id"] == "host-4"


def test_a_version_that_went_meanwhile_makes_the_plan_stale_and_fails_the_step(newer):
    newer.hosts.releases["host-4"] = ALL
    plan = newer.plan("cluster.replace_broker", broker=2)
    assert plan.preconditions["placement"][0]["host_id"] == "host-4"
    operation = newer.start(plan)
    newer.hosts.releases["host-4"] = WITHOUT
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "place-gone")
    assert f"does not have version {NEW}" in operation.error["detail"]
    assert Broker.objects.get(broker_id=2).host_id == "host-2"


def test_added_brokers_are_looked_at_right_before_too(newer):
    newer.hosts.releases["host-4"] = ALL
    plan = newer.plan("cluster.add_brokers", count=1)
    assert plan.preconditions["placement"][0]["host_id"] == "host-4"
    newer.hosts.releases["host-4"] = WITHOUT
    with pytest.raises(Conflict) as caught:
        newer.start(plan)
    assert caught.value.code == "plan-stale"
    newer.hosts.releases["host-4"] = ALL
    operation = newer.start(newer.plan("cluster.add_brokers", count=1))
    newer.hosts.releases["host-4"] = WITHOUT
    operation = drive(operation)
    assert (operation.error["code"], step(operation, "check").state) == ("place-gone", "failed")


def test_a_drain_waits_for_a_host_that_has_the_version(newer):
    from controlplane.administration.services import hosts

    for name in ("host-1", "host-3"):
        newer.hosts.releases[name] = WITHOUT
    hosts.host_change(host_id="host-2", state="draining", actor=ACTOR, reason="a new disk")
    assert drain_round() == 0
    said = HostDrain.objects.get().waiting_for
    assert said.startswith("main/2: No other host takes broker 2. Hosts without version")


def test_a_new_cluster_over_several_releases_is_warned_of(newer):
    old = replace(RELEASES[0], newest="3.8-IV0")
    newer.hosts.releases["host-1"] = Installed(releases=(old,))
    plan = newer.plan("cluster.create", None, name="second", broker_count=4)
    (text,) = (row["text"] for row in plan.impact["warnings"] if row["code"] == "releases-differ")
    assert "3.8-IV0, 3.9-IV0" in text
