"""Another connect string of a host's agent: its clusters follow; refused, stopped, ended."""

from dataclasses import replace

import pytest
from django.core.management import call_command

from controlplane.administration import selectors
from controlplane.audit.models import AuditEvent
from controlplane.clusters import home_tree
from controlplane.clusters.models import Broker, Ensemble, own_connect_string
from controlplane.healing import following
from controlplane.healing.ensembles import zookeeper_round
from controlplane.healing.models import HostZooKeeperChange
from controlplane.operations.models import Operation
from tests.controlplane.clusters.test_reconnecting import NEW, OTHER, brokers  # noqa: F401
from tests.controlplane.support import client_for, drive, operator_client

DOOR = "/api/v1/operator/hosts/host-2/zookeeper"


@pytest.fixture
def client(brokers):  # noqa: F811 - the fixture
    return operator_client(brokers.tenant)


def post(client, connect=NEW):
    return client.post(DOOR, {"connect": connect}, format="json")


def shown():
    return selectors.host_detail("host-2")


def test_the_hosts_page_says_who_uses_which(brokers, client):  # noqa: F811
    found = client.get("/api/v1/operator/hosts/host-2").json()
    assert found["zookeeper"]["connect"] == NEW
    assert (found["zookeeper"]["is_ours"], found["zookeeper"]["brokers_elsewhere"]) == (True, 1)
    (broker,) = found["broker_list"]
    assert (broker["zookeeper"], broker["runs_zookeeper"]) == (own_connect_string(),) * 2
    brokers.hosts.known = [replace(host, zookeeper="", ensemble="") for host in brokers.hosts.known]
    unknown = {"connect": None, "ensemble": None, "is_ours": None, "brokers_elsewhere": None}
    assert shown()["zookeeper"] == unknown
    brokers.hosts.known = [replace(host, alive=False) for host in brokers.hosts.known]
    assert shown()["broker_list"][0]["runs_zookeeper"] is None, "nobody watches it"
    brokers.hosts.known = [replace(host, ensemble=OTHER) for host in brokers.hosts.known]
    assert shown()["zookeeper"]["is_ours"] is False


def test_its_clusters_follow_and_it_says_how_far(brokers, client, monkeypatch):  # noqa: F811
    monkeypatch.setitem(following.ROLL_INPUTS, "canary_s", 0)  # which waits in real time
    assert shown()["zookeeper_change"] is None
    found = post(client)
    assert found.status_code == 200, found.json()
    row = found.json()["zookeeper_change"]
    assert (row["connect"], row["brokers_left"], row["ended_at"]) == (NEW, 1, None)
    assert zookeeper_round() == 1
    operation = Operation.objects.get()
    assert (operation.kind, operation.actor) == ("cluster.change_zookeeper", "system")
    assert "zk-4" not in operation.reason, "connect strings are the operators'"
    assert zookeeper_round() == 0, "one at a time"
    assert drive(operation).state == "succeeded"
    zookeeper_round()
    change = shown()["zookeeper_change"]
    assert change["ended_at"]
    assert (change["clusters_moved"], change["brokers_left"]) == (1, 0)
    assert {row.zookeeper for row in Broker.objects.all()} == {NEW}
    assert shown()["zookeeper"]["brokers_elsewhere"] == 0
    acts = list(AuditEvent.objects.values_list("action", flat=True))
    assert acts.count("host.zookeeper_followed") == acts.count("host.zookeeper_follow") == 1


def test_what_the_agent_does_not_use_is_refused_at_its_field(brokers, client):  # noqa: F811
    found = post(client, "zk-9:2181")
    assert found.status_code == 422
    (error,) = found.json()["errors"]
    assert error["pointer"] == "/connect"
    assert post(client, "x" * 1_001).status_code == 422
    brokers.hosts.known = [replace(host, alive=False) for host in brokers.hosts.known]
    assert "is away" in post(client).json()["errors"][0]["detail"]
    assert not HostZooKeeperChange.objects.exists()


def test_one_of_a_cluster_whose_other_agents_are_not_there_yet_waits(brokers, client):  # noqa: F811
    post(client)
    one, *rest = brokers.hosts.known
    brokers.hosts.known = [replace(one, zookeeper=own_connect_string()), *rest]
    assert zookeeper_round() == 0
    assert "do not all use the same connect string" in shown()["zookeeper_change"]["waiting_for"]


def test_only_operators(brokers):  # noqa: F811
    assert post(client_for(brokers.tenant)).status_code == 404
    assert post(client_for(brokers.tenant), None).status_code == 404


def test_stopped_no_other_cluster_is_begun(brokers, client):  # noqa: F811
    post(client)
    assert post(client, None).status_code == 200
    assert zookeeper_round() == 0
    assert not Operation.objects.exists()
    assert post(client).status_code == 200, "and may be begun again"


# -- the service's own tree
@pytest.mark.django_db
def test_the_service_keeps_the_tree_that_it_found_first():
    assert home_tree.refusal("") == ""
    assert not Ensemble.objects.exists()
    assert home_tree.refusal("a@1") == ""
    assert home_tree.refusal("a@1") == ""
    for other in ("b@1", "a@2", ""):
        assert "this service belongs to a@1" in home_tree.refusal(other)
    home_tree.forget()
    assert home_tree.refusal("b@1") == ""


def test_an_operator_says_that_the_ensemble_of_before_is_lost(world, capsys):
    Ensemble.objects.create(pk=1, identity="lost@1")
    call_command("zookeeper", "adopt")
    assert world.hosts.tree in capsys.readouterr().out
    assert not Ensemble.objects.exists()
