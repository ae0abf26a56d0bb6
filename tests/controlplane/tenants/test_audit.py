"""The record: what was done with before and after, what was refused and by whom, search, export;
and that the database itself keeps it.
"""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from prometheus_client import REGISTRY

from controlplane.audit import protection, selectors
from controlplane.audit.models import AuditEvent, AuditRetention
from controlplane.audit.rules import HIDDEN, ROWS_MAX, kept
from controlplane.audit.services import SYSTEM, About, audit_record, events_forget
from controlplane.clusters.models import REGISTERED, Cluster
from controlplane.common.crypto import unseal
from controlplane.operations.models import OperationSecret
from controlplane.operations.operations import kind_names
from tests.controlplane.rest.conftest import ids, key_client
from tests.controlplane.rest.surface import INPUTS, filled, make_way
from tests.controlplane.rest.test_narrow import key_of, member_of
from tests.controlplane.support import ACTOR, client_for, drive, tenant_make

__all__ = ["ids"]
pytestmark = pytest.mark.django_db


def events(**wanted):
    return list(AuditEvent.objects.filter(**wanted).order_by("pk"))


def test_a_change_is_there_with_before_and_after_as_read_back(world):
    world.gateway.add_topic("orders", partitions=2)
    world.run("topic.partitions", name="orders", partitions=5)
    planned, started, ended = events(resource="topic/orders")
    assert [row.action.rpartition(".")[2] for row in (planned, started, ended)] == [
        "plan",
        "start",
        "succeeded",
    ]
    for row in (planned, started, ended):
        assert row.data["before"] == {"partitions": 2}
        assert row.data["after"] == {"partitions": 5}
        assert (row.cluster_id, row.cluster_name) == (world.cluster.id, "main")
        assert ["topic", "orders"] in row.touches
    assert ended.data["verified"] is True


def test_what_did_not_succeed_is_not_called_verified(world):
    world.gateway.add_topic("orders", partitions=2)
    operation = world.start(world.plan("topic.partitions", name="orders", partitions=5))
    world.gateway.delete_topic("orders")
    drive(operation)
    ended = events(resource="topic/orders")[-1]
    assert ended.outcome == "failed"
    assert ended.data["verified"] is False
    assert ended.data["error"]["code"]


def test_who_asked_is_there_by_key_or_session_and_request(world):
    client = client_for(world.tenant)
    body = {"kind": "topic.create", "cluster_id": world.cluster.id, "inputs": {"name": "t"}}
    answer = client.post(
        "/api/v1/plans", body, format="json", headers={"X-Request-Id": "asked-by-me-1"}
    )
    assert answer.status_code == 201
    row = events(action="topic.create.plan")[-1]
    assert row.request_id == "asked-by-me-1"
    assert row.credential.startswith("session/")
    assert client.session.session_key not in json.dumps([row.credential, row.data])
    assert row.remote_address == "127.0.0.1"
    key_client(world.tenant, "write").post("/api/v1/plans", body, format="json")
    assert events(action="topic.create.plan")[-1].credential.startswith("key/ak_")


@pytest.mark.parametrize(
    ("send", "status"),
    [
        (lambda client, _: client.post("/api/v1/plans", {"kind": "x"}, format="json"), 422),
        (lambda client, _: client.delete("/api/v1/api-keys/ak_none"), 404),
        (lambda _, world: key_client(world.tenant, "read").post("/api/v1/plans"), 403),
        (lambda client, _: client.post("/api/v1/operations/op_none/cancellation"), 404),
    ],
)
def test_a_refused_write_leaves_a_row(world, send, status):
    answer = send(client_for(world.tenant), world)
    assert answer.status_code == status
    (row,) = events(outcome="refused")
    assert row.action == f"refused.{status}"
    assert row.tenant_id == world.tenant.id
    assert row.data["status"] == status
    assert row.data["code"] == answer.json()["code"]
    assert row.request_id == answer["X-Request-Id"]


def test_a_refused_read_leaves_none_and_nobody_is_in_no_tenant(world, client):
    owner = client_for(world.tenant)
    assert owner.get("/api/v1/plans/pl_none").status_code == 404
    assert events(outcome="refused") == []
    assert client.post("/api/v1/plans").status_code == 401
    (row,) = events(outcome="refused")
    assert (row.tenant_id, row.actor) == ("", "nobody")


def left_out():
    name = "penstock_audit_refusals_left_out_total"
    return REGISTRY.get_sample_value(name, {"why": "rate"}) or 0


def test_refusals_are_bounded_and_the_rest_is_counted(world, settings):
    settings.RATE_LIMITS = {"refusals": "3/hour"}
    before = left_out()
    owner, other = client_for(world.tenant), client_for(world.tenant, "operator")
    for _ in range(7):
        assert owner.delete("/api/v1/api-keys/none").status_code == 404
    assert len(events(outcome="refused")) == 3
    assert left_out() - before == 4
    other.post("/api/v1/operations/none/cancellation")
    assert len(events(outcome="refused")) == 4, "another caller is counted apart"


def test_refusals_of_all_together_are_bounded(world, settings):
    settings.RATE_LIMITS = {"refusals": "100/hour", "refusals_of_all": "2/hour"}
    for role in ("owner", "operator", "viewer"):
        client_for(world.tenant, role).post("/api/v1/operations/none/cancellation")
    assert len(events(outcome="refused")) == 2


def test_a_caller_takes_the_record_away_so_often(world, settings):
    settings.RATE_LIMITS = {"exports": "2/hour"}
    reader, other = client_for(world.tenant, "viewer"), client_for(world.tenant)
    for _ in range(2):
        assert reader.get("/api/v1/audit-events/export").status_code == 200
    refused = reader.get("/api/v1/audit-events/export")
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
    assert int(refused["Retry-After"]) <= 3600
    assert len(events(action="audit.export")) == 2, "what is refused leaves no row"
    assert other.get("/api/v1/audit-events/export").status_code == 200


def test_odd_bytes_in_a_refused_address_are_kept_as_text(world):
    assert client_for(world.tenant).post("/api/v1/operations/%00%ff/secret").status_code == 404
    (row,) = events(outcome="refused")
    assert "\0" not in row.resource


def test_no_secret_is_in_the_record(world):
    world.run("user.create", username="app")
    world.plan(
        "cluster.register",
        cluster_id=None,
        name="outside",
        bootstrap_servers="127.0.0.1:1",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        username="admin",
        password="hunter2-hunter2",
    )
    world.run("user.rotate", username="app")
    text = json.dumps([row.data for row in events()])
    assert "hunter2" not in text
    made = [unseal(row.token)["password"] for row in OperationSecret.objects.all()]
    assert len(made) == 2
    assert [password for password in made if password in text] == []


def test_texts_of_unknown_fields_are_hidden_and_long_ones_cut():
    found = kept(
        {
            "after": {"configs": {"retention.ms": "1", "sasl.jaas.config": "secret"}, "count": 3},
            "token": "secret",
            "names": list(range(ROWS_MAX + 5)),
            "deep": [{"password": {"name": "shown by its own name"}}],
            "detail": "x" * 5_000,
        }
    )
    assert found["after"]["configs"] == {"retention.ms": "1", "sasl.jaas.config": HIDDEN}
    assert found["after"]["count"] == 3
    assert found["token"] == HIDDEN
    assert found["names"][-1] == "and 5 more"
    assert len(found["detail"]) < 1_100


@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_nothing_that_a_plan_shows_is_hidden_by_mistake(world, ids, kind):
    on = {"cluster_id": None} if kind in {"cluster.create", "cluster.register"} else {}
    if kind == "cluster.credentials":  # those of a managed cluster are the service's own
        Cluster.objects.update(kind=REGISTERED)
    make_way(world, kind)
    world.plan(kind, **on, **filled(INPUTS[kind], ids))
    row = events(action=f"{kind}.plan")[-1]
    if kind == "user.rotate":  # it says only that there is another one
        assert row.data["after"].pop("password") == HIDDEN
    assert HIDDEN not in json.dumps(row.data), row.data
    assert set(kind_names()) == set(INPUTS)


# -- search and export -------------------------------------------------------------------------


def test_search_by_each_field_with_pages(world):
    for index in range(5):
        audit_record(
            tenant_id=world.tenant.id,
            actor=ACTOR,
            action="x.y" if index else "z",
            resource=f"topic/a-{index}",
            outcome="ok" if index % 2 else "failed",
        )
    client = client_for(world.tenant)

    def found(**query):
        answer = client.get("/api/v1/audit-events", query)
        assert answer.status_code == 200, answer.content
        return sorted((row["resource"][-1] for row in answer.json()["data"]), reverse=True)

    assert found(action="x.") == ["4", "3", "2", "1"]
    assert found(action="x.", outcome="failed") == ["4", "2"]
    assert found(resource="topic/a-3") == ["3"]
    assert found(actor="user:te") == ["4", "3", "2", "1", "0"]
    assert found(actor="user:nobody") == []
    assert found(resource="topic/%") == [], "signs of LIKE are letters"
    now = timezone.now()
    assert found(to=(now - timedelta(hours=1)).isoformat()) == []
    assert len(found(**{"from": (now - timedelta(hours=1)).isoformat()})) == 5
    first = client.get("/api/v1/audit-events", {"page_size": 2, "action": "x."}).json()
    second = client.get(
        "/api/v1/audit-events",
        {"page_size": 2, "action": "x.", "cursor": first["page"]["next"]},
    ).json()
    found = [row["resource"][-1] for row in (*first["data"], *second["data"])]
    assert sorted(found) == ["1", "2", "3", "4"]
    assert second["page"]["has_more"] is False


def body_of(answer):
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_an_export_has_every_row_and_says_whether_that_was_all(world, monkeypatch):
    monkeypatch.setattr(selectors, "EXPORT_BATCH", 2)
    monkeypatch.setattr(selectors, "EXPORT_ROWS_MAX", 5)
    for index in range(4):
        audit_record(tenant_id=world.tenant.id, actor=ACTOR, action="x", resource=f"r/{index}")
    client = client_for(world.tenant)
    answer = client.get("/api/v1/audit-events/export", {"action": "x"})
    rows = [json.loads(line) for line in body_of(answer).splitlines()]
    assert sorted(row["resource"] for row in rows) == ["r/0", "r/1", "r/2", "r/3"]
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)
    assert answer["X-Penstock-Export-Complete"] == "true"
    for index in range(4):
        audit_record(tenant_id=world.tenant.id, actor=ACTOR, action="x", resource=f"r/{index}")
    answer = client.get("/api/v1/audit-events/export", {"action": "x"})
    assert len(body_of(answer).splitlines()) == 5
    assert answer["X-Penstock-Export-Complete"] == "false"
    assert events(action="audit.export", actor="user:acme-owner")


@pytest.mark.parametrize(
    "name",
    ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\uff1d1", 'a"b,c\r\nd'],
)
def test_a_cell_of_an_export_is_no_formula_and_no_other_cell(world, name):
    audit_record(tenant_id=world.tenant.id, actor=ACTOR, action="x", resource=name, reason=name)
    answer = client_for(world.tenant).get(
        "/api/v1/audit-events/export", {"format": "csv", "action": "x"}
    )
    head, row = csv.reader(io.StringIO(body_of(answer), newline=""))
    assert tuple(head) == selectors.FIELDS
    cell = row[head.index("resource")]
    assert cell == (name if name.startswith("a") else f"'{name}")


def test_a_narrow_reader_sees_and_exports_rows_of_their_part_alone(world):
    for name in ("team-a-x", "team-ab", "secret"):
        world.gateway.add_topic(name, partitions=1)
        world.plan("topic.delete", name=name)
    world.gateway.add_group("team-a-g", {})
    audit_record(
        tenant_id=world.tenant.id,
        actor=ACTOR,
        action="offset.reset.plan",
        resource="group/team-a-g",
        about=About(
            cluster_id=world.cluster.id,
            cluster_name="main",
            touches=[("group", "team-a-g"), ("topic", "secret")],
        ),
    )
    for client in (member_of(world.tenant), key_of(world.tenant)):
        listed = client.get("/api/v1/audit-events").json()["data"]
        assert {row["resource"] for row in listed} == {"topic/team-a-x"}
        text = body_of(client.get("/api/v1/audit-events/export"))
        assert "secret" not in text
        assert "team-ab" not in text
        assert "topic/team-a-x" in text


def test_another_tenant_finds_nothing(world):
    audit_record(tenant_id=world.tenant.id, actor=ACTOR, action="x", resource="ours")
    rival = client_for(tenant_make("rival"))
    assert rival.get("/api/v1/audit-events", {"resource": "ours"}).json()["data"] == []


# -- append-only -------------------------------------------------------------------------------


@pytest.fixture
def protected(db):
    protection.protect(connection)
    yield
    protection.unprotect(connection)


def refused(statement):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        statement()


def test_no_row_is_changed_or_deleted(protected):
    audit_record(tenant_id="t", actor=SYSTEM, action="x", resource="r")
    rows = AuditEvent.objects.filter(tenant_id="t")
    refused(lambda: rows.update(actor="user:other"))
    refused(rows.delete)
    refused(lambda: rows.get().save())
    assert rows.count() == 1
    assert protection.missing(connection) == []


def test_only_the_retention_lets_old_rows_go(protected):
    old = audit_record(tenant_id="t", actor=SYSTEM, action="old", resource="r")
    until = timezone.now()
    audit_record(tenant_id="t", actor=SYSTEM, action="new", resource="r")
    assert events_forget(until=until, actor=SYSTEM) == 1
    assert [row.action for row in events(tenant_id="t")] == ["new"]
    assert not AuditEvent.objects.filter(pk=old.pk).exists()
    assert not AuditRetention.objects.exists()
    assert events(action="audit.forget")[0].data["rows"] == 1
    refused(lambda: AuditEvent.objects.all().delete())


def test_a_retention_does_not_let_newer_rows_go(protected):
    audit_record(tenant_id="t", actor=SYSTEM, action="x", resource="r")
    AuditRetention.objects.create(until=timezone.now() - timedelta(hours=1))
    refused(lambda: AuditEvent.objects.filter(tenant_id="t").delete())


def test_the_command_says_whether_it_holds(protected, capsys):
    call_command("audit", "check")
    assert "append-only" in capsys.readouterr().out
    protection.unprotect(connection)
    with pytest.raises(CommandError, match="audit_no_update"):
        call_command("audit", "check")
    call_command("audit", "protect")
    assert protection.missing(connection) == []
    with pytest.raises(CommandError, match="30 days"):
        call_command("audit", "forget", "--days", "3")
