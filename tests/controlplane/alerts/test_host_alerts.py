"""Alerts about hosts over the database: one owner, whom no tenant sees, and what operators may do."""

from dataclasses import replace
from datetime import timedelta
from time import time

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.alerts import facts_hosts
from controlplane.alerts.models import Alert, Silence
from controlplane.alerts.states import FIRING, PENDING
from controlplane.audit.models import AuditEvent
from controlplane.clusters.capacity import Capacity, DirectoryRoom
from controlplane.clusters.models import Broker, HostState
from tests.controlplane.support import client_for, operator_client, tenant_make


def be(world, host_id, **more):
    """The host is so from now on."""
    world.hosts.known = [
        replace(host, **more) if host.host_id == host_id else host for host in world.hosts.known
    ]


def room(free):
    return Capacity(
        directories=(DirectoryRoom(name="main", total_bytes=100, free_bytes=free),),
        memory_total_bytes=100,
        memory_free_bytes=50,
        cores=4,
        load=0.5,
        ports_busy=(),
        reported_at_ms=int(time() * 1000),
    )


def hosts_alerts():
    rows = Alert.objects.filter(tenant=None).exclude(state=PENDING)
    return {(row.rule, row.subject): row for row in rows}


def silent(world, rounds, host_id="host-1"):
    """An alert that fires."""
    be(world, host_id, alive=False)
    rounds.after()
    rounds.after(130)
    return hosts_alerts()["host-silent", f"host/{host_id}"]


def test_a_silent_host_from_its_beginning_to_its_end(quiet, rounds, told):
    be(quiet, "host-1", alive=False)
    rounds.after()
    assert not hosts_alerts(), "it may be an agent that is restarted"
    rounds.after(130)
    alert = hosts_alerts()["host-silent", "host/host-1"]
    assert (alert.state, alert.severity, alert.tenant_id) == (FIRING, "warning", None)
    rounds.after(60)
    assert Alert.objects.count() == 1
    be(quiet, "host-1", alive=True)
    rounds.after(10)
    rounds.after(70)
    assert hosts_alerts()["host-silent", "host/host-1"].state == "resolved"


def test_without_zookeeper_an_alert_stays_and_its_being_away_is_one(quiet, rounds, told):
    silent(quiet, rounds)
    quiet.hosts.is_away = True
    for _ in range(5):
        rounds.after(60)
    found = hosts_alerts()
    assert {key: row.state for key, row in found.items()} == {
        ("host-silent", "host/host-1"): FIRING,
        ("host-registry-away", ""): FIRING,
    }
    assert found["host-silent", "host/host-1"].unknown_since is not None


def test_a_full_disk_is_the_operators_matter(quiet, rounds, told):
    be(quiet, "host-2", capacity=room(free=5))
    rounds.after()
    rounds.after(70)
    alert = hosts_alerts()["host-disk-filling", "host/host-2"]
    assert (alert.severity, alert.values) == ("critical", {"used_share": 0.95})


def test_hosts_that_brokers_are_on_and_nobody_knows_are_silent(world):
    Broker.objects.create(
        cluster=world.cluster,
        broker_id=7,
        host_id="host-9",
        rack="r",
        address="127.0.0.1",
        client_port=1,
        internal_port=2,
        certificate_ends_at=timezone.now() + timedelta(days=1),
    )
    found = facts_hosts.read()
    (gone,) = [host for host in found.hosts if host.id == "host-9"]
    assert (gone.alive, gone.brokers, gone.state) == (False, 1, "active")
    assert [key for key, _ in found.certificates["host-9"]] == [f"{world.cluster.id}-7"]
    HostState.objects.create(host_id="host-9", state="lost", by="x")
    (gone,) = [host for host in facts_hosts.read().hosts if host.id == "host-9"]
    assert gone.state == "lost"


def test_trouble_with_hosts_stops_no_tenants_alerts(quiet, rounds, told, monkeypatch):
    def fail():
        raise RuntimeError

    monkeypatch.setattr(facts_hosts, "read", fail)
    quiet.gateway.remove_broker(2)
    from controlplane.alerts import evaluation
    from tests.controlplane.support import observed

    observed(quiet)
    first = evaluation.evaluate(rounds.now)
    assert first.failed_tenants == 1
    assert Alert.objects.get(rule="broker-down").tenant_id == quiet.tenant.id


def test_the_database_refuses_a_tenants_alert_about_a_host_and_the_other_way_round(world):
    usual = {"started_at": timezone.now(), "refreshed_at": timezone.now(), "severity": "warning"}
    for wrong in (
        {"tenant": world.tenant, "rule": "host-silent"},
        {"tenant": None, "rule": "broker-down"},
        {"tenant": None, "rule": "host-silent", "cluster_id": world.cluster.id},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Alert.objects.create(**usual, **wrong)
    Alert.objects.create(**usual, tenant=None, rule="host-silent", subject="host/a")
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(**usual, tenant=None, rule="host-silent", subject="host/a")


# -- who sees them
def test_no_tenant_sees_acknowledges_or_is_told_of_them(quiet, rounds, told):
    alert = silent(quiet, rounds)
    owner = client_for(quiet.tenant)
    assert owner.get("/api/v1/alerts").data["data"] == []
    assert owner.get("/api/v1/alerts?state=open").data["data"] == []
    assert owner.get(f"/api/v1/alerts/{alert.id}").status_code == 404
    said = owner.post(f"/api/v1/alerts/{alert.id}/acknowledgement", {"note": ""}, format="json")
    assert said.status_code == 404
    assert owner.get("/api/v1/alerts?rule=host-silent").status_code == 422
    rules = [row["id"] for row in owner.get("/api/v1/alert-rules").data["data"]]
    assert not [rule for rule in rules if rule.startswith("host-")]
    for address, body in (
        ("alert-overrides", {"rule": "host-silent", "thresholds": {}, "enabled": False}),
        (
            "silences",
            {"rule": "host-silent", "reason": "x", "ends_at": timezone.now() + timedelta(hours=1)},
        ),
    ):
        refused = owner.post(f"/api/v1/{address}", body, format="json")
        assert refused.status_code == 422, address
    for page in ("overview", "alerts"):
        shown = owner.get(f"/console/{page}")
        assert "host-silent" not in str(getattr(shown, "content", b"")), page


@pytest.mark.parametrize("address", ["", "/{id}", "/{id}/acknowledgement"])
def test_the_doors_are_there_for_operators_alone(quiet, rounds, told, address):
    alert = silent(quiet, rounds)
    path = "/api/v1/operator/alerts" + address.format(id=alert.id)
    owner = client_for(quiet.tenant)
    ask = owner.post if "acknowledgement" in address else owner.get
    assert ask(path).status_code == 404


def test_a_tenants_silence_of_everything_does_not_keep_operators_quiet(quiet, rounds, told):
    Silence.objects.create(
        tenant=quiet.tenant,
        starts_at=rounds.now - timedelta(minutes=1),
        ends_at=rounds.now + timedelta(days=1),
        reason="x",
        created_by="x",
    )
    assert silent(quiet, rounds).silence_id == ""


def test_operators_see_them_and_no_tenants_alert(quiet, rounds, told):
    alert = silent(quiet, rounds)
    other = Alert.objects.create(
        tenant=tenant_make("other"),
        rule="quota-hit",
        severity="warning",
        state=FIRING,
        started_at=rounds.now,
        refreshed_at=rounds.now,
    )
    operator = operator_client(quiet.tenant)
    (row,) = operator.get("/api/v1/operator/alerts?state=open").data["data"]
    assert (row["id"], row["host_id"], row["runbook"]) == (alert.id, "host-1", "host-silent")
    assert "cluster_id" not in row
    of_host = "/api/v1/operator/alerts?host_id="
    assert len(operator.get(of_host + "host-1").data["data"]) == 1
    assert operator.get(of_host + "host-2").data["data"] == []
    assert operator.get("/api/v1/operator/alerts?rule=quota-hit").status_code == 422
    detail = operator.get(f"/api/v1/operator/alerts/{alert.id}").data
    assert [move["after"] for move in detail["history"]] == ["pending", "firing"]
    assert operator.get(f"/api/v1/operator/alerts/{other.id}").status_code == 404


def test_an_operator_says_that_somebody_is_at_it(quiet, rounds, told):
    alert = silent(quiet, rounds)
    operator = operator_client(quiet.tenant)
    path = f"/api/v1/operator/alerts/{alert.id}/acknowledgement"
    said = operator.post(path, {"note": "on my way"}, format="json")
    assert (said.status_code, said.data["state"]) == (200, "acknowledged")
    assert operator.post(path, {"note": ""}, format="json").status_code == 409
    event = AuditEvent.objects.get(action="alert.acknowledge")
    assert (event.tenant_id, event.actor) == ("", "user:platform-operator")
    assert event.resource == f"alert/{alert.id}"
    mine = client_for(quiet.tenant).get("/api/v1/audit-events").data["data"]
    assert not [row for row in mine if row["action"] == "alert.acknowledge"]
