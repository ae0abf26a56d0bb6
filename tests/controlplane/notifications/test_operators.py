"""Operators' own destinations: who may, what goes there, and that no tenant's and theirs ever mix."""

import json

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from controlplane.alerts import evaluation
from controlplane.alerts.models import Alert
from controlplane.audit.models import AuditEvent
from controlplane.clusters.fake_hosts import FakeHosts
from controlplane.clusters.hosts import use_hosts
from controlplane.notifications import queue
from controlplane.notifications.events import event_of
from controlplane.notifications.models import Delivery, Destination
from controlplane.notifications.sending import send_due
from tests.controlplane.alerts.rounds import Rounds, quieten
from tests.controlplane.alerts.test_host_alerts import be, silent
from tests.controlplane.healing.test_rounds import (
    brokers,  # noqa: F401 - a fixture
    clock,  # noqa: F401 - a fixture
    dies,
    policy,
)
from tests.controlplane.notifications.receivers import http_receiver
from tests.controlplane.notifications.test_api import ALERTMANAGER, PAGERDUTY, SECRET, WEBHOOK
from tests.controlplane.support import client_for, operator_client, tenant_make

API = "/api/v1/operator"


@pytest.fixture
def rounds():
    return Rounds()


@pytest.fixture
def quiet(world):
    return quieten(world)


def ask(client, method, path, body=None, **headers):
    data = "" if body is None else json.dumps(body)
    return client.generic(method, path, data, content_type="application/json", **headers)


@pytest.fixture
def no_hosts():
    """A ZooKeeper that answers and knows of none."""
    use_hosts(FakeHosts(hosts=0))
    yield
    use_hosts(None)


@pytest.fixture
def operator(tenant):
    return operator_client(tenant)


def made(operator, **more):
    answer = ask(operator, "POST", f"{API}/destinations", {**WEBHOOK, **more})
    assert answer.status_code == 201, answer.data
    return answer.data


def own(name="ops", **fields):
    """An operators' destination by mail."""
    return Destination.objects.create(
        tenant=None, name=name, kind="email", config={"to": ["o@example.org"]}, **fields
    )


# -- the doors
def test_an_operator_makes_changes_and_deletes_one_and_each_is_recorded(operator):
    row = made(operator)
    assert Destination.objects.get().tenant_id is None
    assert SECRET not in str(row)
    path = f"{API}/destinations/{row['id']}"
    body = {
        "name": "nights",
        "enabled": False,
        "min_severity": "critical",
        "rules": ["host-silent"],
        "clusters": [],
        "send_resolved": True,
    }
    changed = ask(operator, "PUT", path, body, HTTP_IF_MATCH=row["etag"])
    assert (changed.status_code, changed.data["rules"]) == (200, ["host-silent"])
    assert ask(operator, "PUT", path, body, HTTP_IF_MATCH=row["etag"]).status_code == 412
    assert operator.get(path).data["name"] == "nights"
    assert operator.delete(path).status_code == 204
    assert not Destination.objects.exists()
    events = AuditEvent.objects.order_by("pk").filter(action__startswith="destination.")
    assert [(event.tenant_id, event.action) for event in events] == [
        ("", "destination.create"),
        ("", "destination.update"),
        ("", "destination.delete"),
    ]
    assert SECRET not in str([event.data for event in events])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({**WEBHOOK, "config": {"url": "http://127.0.0.1:9/"}}, 422),
        ({**WEBHOOK, "config": {"url": "http://169.254.169.254/latest"}}, 422),
        ({**WEBHOOK, "clusters": ["kc_1"]}, 422),
        ({**PAGERDUTY, "secrets": {}}, 422),
        (ALERTMANAGER, 201),
    ],
)
def test_they_are_checked_as_tenants_are(operator, body, code):
    assert ask(operator, "POST", f"{API}/destinations", body).status_code == code


def test_names_are_theirs_alone_and_taken_once(operator, tenant, destination):
    destination(name="hook")
    made(operator)
    again = ask(operator, "POST", f"{API}/destinations", WEBHOOK)
    assert (again.status_code, again.data["code"]) == (409, "name-taken")
    with pytest.raises(IntegrityError), transaction.atomic():
        own(name="hook")


def test_tenants_and_operators_find_nothing_of_each_other(operator, tenant, destination):
    theirs, ours = destination(), made(operator)
    of_tenant = client_for(tenant)
    assert [row["id"] for row in of_tenant.get("/api/v1/destinations").data["data"]] == [theirs.pk]
    assert [row["id"] for row in operator.get(f"{API}/destinations").data["data"]] == [ours["id"]]
    path = "/api/v1/destinations/" + ours["id"]
    assert of_tenant.get(path).status_code == 404
    assert of_tenant.delete(path).status_code == 404
    assert ask(of_tenant, "POST", path + "/test").status_code == 404
    assert operator.get(f"{API}/destinations/{theirs.pk}").status_code == 404
    for address in ("destinations", f"destinations/{ours['id']}", "deliveries"):
        assert of_tenant.get(f"{API}/{address}").status_code == 404


# -- what goes there
def test_an_alert_about_a_host_goes_to_operators_and_to_no_tenant(quiet, rounds):
    Destination.objects.create(tenant=quiet.tenant, name="t", kind="email", min_severity="info")
    Destination.objects.create(
        tenant=tenant_make("rival"), name="t", kind="email", min_severity="info"
    )
    row = own()
    alert = silent(quiet, rounds)
    delivery = Delivery.objects.get()
    assert (delivery.destination_id, delivery.tenant_id) == (row.pk, None)
    event = event_of(delivery.event)
    assert (event.tenant_id, event.cluster_id, event.rule) == (None, None, "host-silent")
    assert event.labels == {"alertname": "host-silent", "severity": "warning", "host": "host-1"}
    assert event.console_url.endswith("/platform/hosts/host-1")
    assert event.runbook_url.endswith("/runbooks/host-silent")
    of_tenant = client_for(quiet.tenant)
    assert of_tenant.get("/api/v1/deliveries").data["data"] == []
    assert of_tenant.get(f"/api/v1/deliveries/{delivery.pk}").status_code == 404
    assert of_tenant.get(f"/api/v1/deliveries?alert_id={alert.id}").data["data"] == []
    operator = operator_client(quiet.tenant)
    (seen,) = operator.get(f"{API}/deliveries").data["data"]
    assert (seen["id"], seen["state"]) == (delivery.pk, "pending")
    be(quiet, "host-1", alive=True)
    rounds.after(10)
    rounds.after(70)
    assert [each.event_state for each in Delivery.objects.order_by("ordinal")] == [
        "firing",
        "resolved",
    ]


def test_a_tenants_alert_goes_to_no_operator(quiet, rounds):
    from tests.controlplane.alerts.test_evaluation import kill

    own(min_severity="info")
    kill(quiet, 2)
    rounds.after()
    rounds.after(30)
    assert Alert.objects.filter(rule="broker-down", state="firing").exists()
    assert not Delivery.objects.exists()


def test_a_proposal_of_self_healing_names_its_host_to_operators_alone(brokers, clock, settings):  # noqa: F811 - fixtures of the imports
    settings.PUBLIC_URL = "https://penstock.example/"
    policy(brokers, mode="ask")
    row = own()
    Destination.objects.create(
        tenant=brokers.tenant, name="t", kind="email", config={"to": ["a@example.org"]}
    )
    dies(brokers)
    clock.rounds(9)
    ours = Delivery.objects.get(destination=row)
    theirs = Delivery.objects.exclude(destination=row).get()
    event = event_of(ours.event)
    assert event.summary == "host-2: shall broker 2 of main be put on another host?"
    assert event.labels["host"] == "host-2"
    assert event.labels["tenant"] == brokers.tenant.slug
    assert event.console_url == "https://penstock.example/platform/hosts/host-2"
    assert "host-2" not in str(theirs.event)
    assert ours.alert_id == theirs.alert_id
    assert ours.event_id == theirs.event_id


@pytest.mark.django_db(transaction=True)
def test_it_is_sent_by_the_same_queue_and_sent_again_by_hand(operator, loopback, no_hosts):
    with http_receiver() as (url, requests):
        row = made(operator, config={"url": "http://hooks.example.org/"})
        Destination.objects.update(config={"url": url})
        tested = ask(operator, "POST", f"{API}/destinations/{row['id']}/test")
        assert tested.data["delivered"], tested.data
        Alert.objects.create(
            tenant=None,
            rule="host-silent",
            subject="host/h",
            severity="critical",
            state="acknowledged",
            told="acknowledged",
            started_at=timezone.now(),
            refreshed_at=timezone.now(),
        )
        # Nobody has seen the host since: what is not there is not silent.
        for _ in range(2):
            evaluation.evaluate(timezone.now() + timezone.timedelta(seconds=90 * (_ + 1)))
        assert [each.tenant_id for each in queue.waiting(timezone.now())] == [""]
        assert send_due(round_s=5) == 1
        assert len(requests) == 2
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.event_state) == ("sent", "resolved")
    path = f"{API}/deliveries/{delivery.pk}"
    assert ask(operator, "POST", path + "/resend").status_code == 409
    Delivery.objects.update(state="dead")
    assert ask(operator, "POST", path + "/resend").data["state"] == "pending"
    assert AuditEvent.objects.get(action="delivery.resend").tenant_id == ""


# -- migrations
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="one database is enough of this")
def test_going_back_leaves_what_tenants_have(tenant, destination):
    destination(name="kept")
    own()
    usual = {"started_at": timezone.now(), "refreshed_at": timezone.now(), "severity": "warning"}
    Alert.objects.create(**usual, tenant=tenant, rule="quota-hit")
    Alert.objects.create(**usual, tenant=None, rule="host-silent", subject="host/a")
    try:
        call_command("migrate", "alerts", "0004", verbosity=0)
        call_command("migrate", "notifications", "0001", verbosity=0)
    finally:
        call_command("migrate", verbosity=0)
    assert [row.name for row in Destination.objects.all()] == ["kept"]
    assert [row.rule for row in Alert.objects.all()] == ["quota-hit"]
