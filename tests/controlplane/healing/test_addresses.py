"""A host's new address: its brokers follow, one cluster after another; refused, stopped, ended."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.administration import selectors
from controlplane.audit.models import AuditEvent
from controlplane.clusters.models import Broker
from controlplane.healing.addresses import address_round
from controlplane.healing.models import HostAddressChange
from controlplane.operations.models import Operation
from tests.controlplane.clusters.test_addresses import NEW, OLD, brokers  # noqa: F401 - a fixture
from tests.controlplane.kind_plans import moved_hosts
from tests.controlplane.support import client_for, drive, operator_client

ADDRESS = "/api/v1/operator/hosts/host-2/address"


@pytest.fixture
def client(brokers):  # noqa: F811 - the fixture
    return operator_client(brokers.tenant)


def post(client, address=NEW):
    return client.post(ADDRESS, {"address": address}, format="json")


def shown():
    return selectors.host_detail("host-2")["address_change"]


def test_its_brokers_follow_and_it_says_how_far(brokers, client):  # noqa: F811
    assert shown() is None
    found = post(client)
    assert found.status_code == 200, found.json()
    row = found.json()["address_change"]
    assert (row["address"], row["brokers_left"], row["ended_at"]) == (NEW, 1, None)
    assert found.json()["broker_list"][0]["address"] == OLD
    assert address_round() == 1
    operation = Operation.objects.get()
    assert (operation.kind, operation.actor) == ("cluster.change_addresses", "system")
    assert "host-2" not in operation.reason, "hosts are the operators'"
    assert shown()["operation_id"] == operation.id
    assert address_round() == 0, "one at a time"
    assert drive(operation).state == "succeeded"
    address_round()
    assert shown()["ended_at"]
    assert (shown()["clusters_moved"], shown()["brokers_left"]) == (1, 0)
    assert Broker.objects.get(broker_id=2).address == NEW
    address_round()
    acts = list(AuditEvent.objects.values_list("action", flat=True))
    assert acts.count("host.address_followed") == 1
    assert acts.count("host.address_follow") == 1


def test_what_the_agent_does_not_serve_is_refused_at_its_field(brokers, client):  # noqa: F811
    found = post(client, "10.9.9.9")
    assert found.status_code == 422
    (error,) = found.json()["errors"]
    assert error["pointer"] == "/address"
    assert f"serves at {NEW}" in error["detail"]
    brokers.hosts.known = [replace(host, alive=False) for host in brokers.hosts.known]
    assert "is away" in post(client).json()["errors"][0]["detail"]
    assert post(client, "x" * 101).status_code == 422
    assert not HostAddressChange.objects.exists()


def test_nothing_to_follow_is_said(brokers, client):  # noqa: F811
    moved_hosts(brokers, OLD, "host-2")
    assert post(client, OLD).json()["code"] == "nothing-to-do"


def test_only_operators(brokers):  # noqa: F811
    assert post(client_for(brokers.tenant)).status_code == 404
    assert post(client_for(brokers.tenant), None).status_code == 404


def test_what_is_in_the_way_is_said_and_tried_again(brokers, client):  # noqa: F811
    post(client)
    now = timezone.now()
    other = brokers.start(brokers.plan("cluster.restart", canary_s=0))
    assert address_round(now) == 0
    assert shown()["waiting_for"].startswith("main: ")
    drive(other)
    assert address_round(now + timedelta(seconds=10)) == 0, "not before half a minute"
    assert address_round(now + timedelta(seconds=31)) == 1


def test_an_agent_that_goes_is_waited_for(brokers, client):  # noqa: F811
    post(client)
    moved_hosts(brokers, OLD, "host-2")
    assert address_round() == 0
    assert shown()["waiting_for"].startswith(f"The host's agent serves at {OLD}")
    (said,) = shown()["waiting_for_parts"]
    assert (said["code"], said["params"]) == ("serves-elsewhere", {"serves": OLD, "address": NEW})


def test_stopped_no_other_cluster_is_begun(brokers, client):  # noqa: F811
    assert post(client, None).status_code == 200, "nothing to stop"
    assert not AuditEvent.objects.filter(action="host.address_stop").exists()
    post(client)
    assert post(client, None).status_code == 200
    assert AuditEvent.objects.filter(action="host.address_stop").count() == 1
    assert address_round() == 0
    assert "stopped it" in shown()["waiting_for"]
    assert [part["code"] for part in shown()["waiting_for_parts"]] == ["stopped"]
    assert not Operation.objects.exists()
    assert post(client).status_code == 200, "and may be begun again"


def test_zookeeper_away_nothing_is_done(brokers, client):  # noqa: F811
    post(client)
    brokers.hosts.is_away = True
    assert address_round() == 0
    assert post(client).status_code == 503
