"""What brokers run, over REST: who sees it, and what is said when it is not known."""

from dataclasses import replace

import pytest

from controlplane.clusters.models import REGISTERED, Broker, Cluster
from controlplane.clusters.versions import NOT_KNOWN, Installed
from controlplane.common.grants import Grant, Over
from tests.controlplane.kind_plans import add_broker, of_version
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def placed(world):
    for number in (1, 2, 3):
        add_broker(world, number)
    of_version(world, version="0.0.9", protocol="3.8-IV0")
    return world


def get(world, client=None, cluster=None):
    cluster = cluster or world.cluster
    return (client or client_for(world.tenant)).get(f"/api/v1/clusters/{cluster.id}/versions")


def test_each_broker_and_each_version_of_its_hosts(placed):
    found = get(placed).json()
    assert (found["version"], found["software"], found["protocol"]) == (
        "0.0.9",
        "0.0.9",
        "3.8-IV0",
    )
    assert (found["protocol_newest"], found["is_mixed"], found["may_change"]) == (None, False, True)
    assert found["brokers"][0] == {
        "id": 1,
        "desired": "0.0.9",
        "running": "0.0.9",
        "software": "0.0.9",
        "protocol": "3.8-IV0",
        "digest": "b" * 64,
    }
    assert [(row["name"], row["is_own"], row["why_not"]) for row in found["offers"]] == [
        ("agent", True, None),
        ("0.0.9", False, None),
        ("0.2.0", False, None),
    ]
    of_version(placed, version="0.2.0", protocol="3.8-IV0")
    found = get(placed).json()
    assert found["protocol_newest"] == "3.9-IV0"
    assert [text.partition(":")[0] for text in found["changes"]] == ["3.9-IV0"]


def test_brokers_of_two_versions_are_said_to_be(placed):
    Broker.objects.filter(broker_id=2).update(version="0.2.0")
    found = get(placed).json()
    assert found["is_mixed"]
    assert [row["desired"] for row in found["brokers"]] == ["0.0.9", "0.2.0", "0.0.9"]


def test_what_nobody_says_is_null_and_never_empty(placed):
    placed.hosts.releases["host-1"] = NOT_KNOWN
    (key,) = [key for key in placed.hosts.desired if key[1].endswith("-1")]
    placed.hosts.reports[key] = replace(
        placed.hosts.observed([key])[key], version="", software="", protocol="", digest=""
    )
    Cluster.objects.update(protocol_version="")
    found = get(placed).json()
    assert (found["software"], found["protocol"]) == (None, None)
    assert found["brokers"][0] | {"id": 1, "desired": "0.0.9"} == {
        "id": 1,
        "desired": "0.0.9",
        "running": None,
        "software": None,
        "protocol": None,
        "digest": None,
    }
    assert all("not known" in row["why_not"] for row in found["offers"])


def test_of_a_dead_host_nothing_is_known(placed):
    placed.hosts.known = [replace(host, alive=False) for host in placed.hosts.known]
    assert {row["running"] for row in get(placed).json()["brokers"]} == {None}


def test_what_a_host_makes_up_is_text(placed):
    (key,) = [key for key in placed.hosts.desired if key[1].endswith("-1")]
    placed.hosts.reports[key] = replace(placed.hosts.observed([key])[key], software=HOSTILE)
    placed.hosts.releases["host-1"] = Installed(refused=(("0.2.0", HOSTILE),))
    found = get(placed).json()
    assert found["brokers"][0]["software"] == HOSTILE
    (row,) = [row for row in found["offers"] if row["name"] == "0.2.0"]
    assert row["why_not"] == f"Not on 1 of the 3 hosts of its brokers: {HOSTILE}."


def test_without_zookeeper_it_is_unknown_for_now(placed):
    placed.hosts.is_away = True
    found = problem(get(placed), 503)
    assert (found["code"], found["retryable"]) == ("zookeeper-away", True)


def test_brokers_of_others_are_their_business(placed):
    Cluster.objects.update(kind=REGISTERED)
    assert "run by somebody else" in problem(get(placed), 503)["detail"]


def test_somebody_elses_cluster_is_not_there(placed):
    other = cluster_make(tenant_make("other"), "theirs")
    problem(get(placed, cluster=other), 404)
    problem(get(placed, client=client_for(other.tenant)), 404)


def test_a_viewer_is_told_and_may_not_change_it(placed):
    viewer = client_for(placed.tenant, "viewer")
    assert get(placed, client=viewer).json()["may_change"] is False


def test_who_sees_a_part_of_it_is_told_so(placed):
    narrow = member_of(placed.tenant, [Grant(role="operator", over=Over.TOPIC)])
    assert "a role on the whole cluster" in problem(get(placed, client=narrow), 503)["detail"]
