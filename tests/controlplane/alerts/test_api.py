"""The addresses of alerts: who sees and may do what, and what is refused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.alerts.models import Alert, AlertOverride, AlertTransition, Silence
from controlplane.alerts.rules import RULES
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import OPERATOR, VIEWER, Grant, Match, Over, Pattern
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import MAIN, member_of
from tests.controlplane.support import client_for, tenant_make

API = "/api/v1"


def alert_make(world, **more):
    """Later ones have later ids, also within a millisecond."""
    now = timezone.now()
    values = {
        "id": f"al_{Alert.objects.count():020d}",
        "cluster_id": world.cluster.id,
        "cluster_name": "main",
        "rule": "broker-down",
        "state": "firing",
        "severity": "warning",
        "summary": "broker 2 is not in the cluster",
        "started_at": now,
        "since": now,
        "fired_at": now,
        "refreshed_at": now,
        "told": "firing",
    }
    return Alert.objects.create(tenant=world.tenant, **{**values, **more})


@pytest.fixture
def owner(world):
    return client_for(world.tenant)


def listed(client, query=""):
    answer = client.get(f"{API}/alerts{query}")
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["data"]]


def test_alerts_are_filtered(world, owner):
    one = alert_make(world)
    two = alert_make(world, rule="spark-late", cluster_id="", severity="critical")
    done = alert_make(world, rule="key-ending", state="resolved", cluster_id="")
    alert_make(world, rule="quota-hit", state="pending")
    assert listed(owner) == [done.id, two.id, one.id], "pending ones are nobody's matter yet"
    assert listed(owner, "?state=open") == [two.id, one.id]
    assert listed(owner, "?state=resolved,firing&severity=warning") == [done.id, one.id]
    assert listed(owner, "?rule=spark-late,key-ending") == [done.id, two.id]
    assert listed(owner, f"?cluster_id={world.cluster.id}") == [one.id]
    page = owner.get(f"{API}/alerts?page_size=1").json()
    assert page["page"]["has_more"]
    assert listed(owner, f"?page_size=1&cursor={page['page']['next']}") == [two.id]
    for query in ("state=bogus", "rule=bogus", "severity=bogus"):
        problem(owner.get(f"{API}/alerts?{query}"), 422)


def test_an_alert_is_acknowledged_once(world, owner):
    alert = alert_make(world)
    address = f"{API}/alerts/{alert.id}"
    answer = owner.post(f"{address}/acknowledgement", {"note": "on it"}, format="json")
    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["state"], shown["note"]) == ("acknowledged", "on it")
    assert shown["acknowledged_by"] == "user:acme-owner"
    (row,) = shown["history"]
    assert (row["before"], row["after"], row["by"]) == ("firing", "acknowledged", "user:acme-owner")
    assert row["event_id"]
    assert AuditEvent.objects.get(action="alert.acknowledge").resource == f"alert/{alert.id}"
    again = problem(owner.post(f"{address}/acknowledgement", {"note": ""}, format="json"), 409)
    assert again["code"] == "alert-not-firing"
    assert AlertTransition.objects.count() == 1


def team(world, role, over, prefix):
    return Grant(role=role, clusters=MAIN, over=over, names=Pattern(Match.PREFIX, prefix))


def test_a_reader_of_a_part_sees_what_is_wholly_theirs(world):
    whole = alert_make(world)
    mine = alert_make(
        world,
        rule="group-stopped",
        subject="group/team-a-g",
        touches=[["group", "team-a-g"], ["topic", "team-a-x"]],
    )
    mixed = alert_make(
        world,
        rule="group-stalled",
        subject="group/team-a-g",
        touches=[["group", "team-a-g"], ["topic", "secret"]],
    )
    tenants = alert_make(world, rule="spark-late", cluster_id="", cluster_name="")
    grants = [team(world, VIEWER, over, "team-a-") for over in (Over.GROUP, Over.TOPIC)]
    viewer = member_of(world.tenant, grants, "viewer")
    assert listed(viewer) == [mine.id]
    for hidden in (whole, mixed, tenants):
        problem(viewer.get(f"{API}/alerts/{hidden.id}"), 404)
    answer = viewer.post(f"{API}/alerts/{mine.id}/acknowledgement", {"note": ""}, format="json")
    problem(answer, 403)
    half = [team(world, OPERATOR, Over.GROUP, "team-a-"), grants[1]]
    answer = member_of(world.tenant, half, "half").post(
        f"{API}/alerts/{mine.id}/acknowledgement", {"note": ""}, format="json"
    )
    problem(answer, 403)
    assert Alert.objects.filter(state="acknowledged").count() == 0
    operator = member_of(
        world.tenant, [team(world, OPERATOR, each, "team-a-") for each in (Over.GROUP, Over.TOPIC)]
    )
    answer = operator.post(f"{API}/alerts/{mine.id}/acknowledgement", {"note": ""}, format="json")
    assert answer.status_code == 200
    for path in ("alert-rules", "alert-overrides", "silences"):
        problem(viewer.get(f"{API}/{path}"), 403)


def test_another_tenants_are_not_there(world):
    alert = alert_make(world)
    rival = client_for(tenant_make("rival"))
    assert listed(rival) == []
    assert listed(rival, f"?cluster_id={world.cluster.id}") == []
    problem(rival.get(f"{API}/alerts/{alert.id}"), 404)
    problem(
        rival.post(f"{API}/alerts/{alert.id}/acknowledgement", {"note": ""}, format="json"), 404
    )
    for path, body in (
        ("alert-overrides", {"rule": "broker-down", "thresholds": {}, "enabled": False}),
        ("silences", {"ends_at": soon(hours=1), "reason": "r"}),
    ):
        answer = rival.post(
            f"{API}/{path}", {**body, "cluster_id": world.cluster.id}, format="json"
        )
        problem(answer, 404)


def soon(**span):
    return (timezone.now() + timedelta(**span)).isoformat()


def test_rules_show_what_is_in_force_for_the_tenant(world, owner):
    def lag():
        rows = {row["id"]: row for row in owner.get(f"{API}/alert-rules").json()["data"]}
        assert list(rows) == [rule.id for rule in RULES]
        return rows["group-falling-behind"]

    assert lag()["thresholds"][0]["value"] == 60.0
    body = {"rule": "group-falling-behind", "thresholds": {"lag_s": 300}, "severity": "info"}
    made = owner.post(f"{API}/alert-overrides", body, format="json")
    assert made.status_code == 201, made.content
    part = {**body, "thresholds": {"lag_s": 900}, "resource": "topic", "name": "bulk"}
    assert owner.post(f"{API}/alert-overrides", part, format="json").status_code == 201
    found = lag()
    assert (found["thresholds"][0]["value"], found["thresholds"][0]["default"]) == (300.0, 60.0)
    assert (found["severity"], len(found["overrides"])) == ("info", 2)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"thresholds": {"no-such": 1}}, "/thresholds/no-such"),
        ({"thresholds": {"lag_s": -1}}, "/thresholds/lag_s"),
        ({"thresholds": {"lag_s": "many"}}, "/thresholds/lag_s"),
        ({}, "/thresholds"),
        ({"rule": "no-such", "enabled": True}, "/rule"),
        ({"enabled": False, "resource": "group"}, "/name"),
        ({"enabled": False, "name": "x"}, "/name"),
        ({"enabled": False, "resource": "cluster", "name": "x"}, "/resource"),
        ({"enabled": False, "severity": "bad"}, "/severity"),
    ],
)
def test_an_override_that_cannot_be_names_its_field(world, owner, body, pointer):
    given = {"rule": "group-falling-behind", "thresholds": {}, **body}
    found = problem(owner.post(f"{API}/alert-overrides", given, format="json"), 422)
    assert found["errors"][0]["pointer"] == pointer
    assert not AlertOverride.objects.exists()


def test_an_override_from_its_beginning_to_its_end(world, owner):
    body = {"rule": "disk-filling", "thresholds": {"capacity_bytes": 1e12}}
    made = owner.post(
        f"{API}/alert-overrides", {**body, "cluster_id": world.cluster.id}, format="json"
    ).json()
    address = f"{API}/alert-overrides/{made['id']}"
    change = {"thresholds": {"used_share": 0.5}, "severity": "critical"}
    changed = owner.put(address, change, format="json")
    assert changed.json()["thresholds"] == {"used_share": 0.5}
    assert owner.delete(address).status_code == 204
    problem(owner.get(address), 404)
    actions = AuditEvent.objects.filter(action__startswith="alert-override.").order_by("pk")
    assert [row.action.partition(".")[2] for row in actions] == ["create", "change", "delete"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"ends_at": soon(hours=-1)}, "/ends_at"),
        ({"ends_at": soon(days=31)}, "/ends_at"),
        ({"starts_at": soon(days=91), "ends_at": soon(days=92)}, "/starts_at"),
        ({"starts_at": soon(days=2), "ends_at": soon(days=1)}, "/ends_at"),
        ({"ends_at": "tomorrow"}, "/ends_at"),
        ({"rule": "no-such"}, "/rule"),
        ({"reason": ""}, "/reason"),
    ],
)
def test_a_silence_that_cannot_be_names_its_field(world, owner, body, pointer):
    given = {"ends_at": soon(hours=1), "reason": "because", **body}
    found = problem(owner.post(f"{API}/silences", given, format="json"), 422)
    assert found["errors"][0]["pointer"] == pointer
    assert not Silence.objects.exists()


def test_a_silence_from_its_beginning_to_its_end(world, owner):
    given = {"rule": "broker-down", "starts_at": soon(days=1), "ends_at": soon(days=2)}
    made = owner.post(f"{API}/silences", {**given, "reason": "upgrade"}, format="json").json()
    assert (made["planned"], made["state"]) == (True, "planned")
    address = f"{API}/silences/{made['id']}"
    later = owner.put(address, {"ends_at": soon(days=3), "reason": "longer"}, format="json")
    assert later.json()["reason"] == "longer"
    problem(owner.put(address, {"ends_at": soon(days=60), "reason": "r"}, format="json"), 422)
    assert owner.delete(address).status_code == 204
    over = owner.get(address).json()
    assert (over["state"], over["ended_by"]) == ("over", "user:acme-owner")
    assert owner.delete(address).status_code == 204
    found = problem(
        owner.put(address, {"ends_at": soon(days=1), "reason": "r"}, format="json"), 409
    )
    assert found["code"] == "silence-over"
    actions = AuditEvent.objects.filter(action__startswith="silence.").order_by("pk")
    assert [row.action for row in actions] == ["silence.create", "silence.change", "silence.end"]


@pytest.mark.parametrize("path", ["alert-overrides", "silences"])
def test_there_are_so_many(world, owner, path, monkeypatch):
    from controlplane.alerts import services

    monkeypatch.setattr(services, "OVERRIDES_MAX", 1)
    monkeypatch.setattr(services, "SILENCES_MAX", 1)
    body = {
        "alert-overrides": {"rule": "broker-down", "thresholds": {}, "enabled": False},
        "silences": {"ends_at": soon(hours=1), "reason": "r"},
    }[path]
    assert owner.post(f"{API}/{path}", body, format="json").status_code == 201
    problem(owner.post(f"{API}/{path}", body, format="json"), 409)


def test_a_viewer_reads_and_changes_nothing(world):
    alert = alert_make(world)
    viewer = client_for(world.tenant, "viewer")
    assert listed(viewer) == [alert.id]
    assert viewer.get(f"{API}/alert-rules").status_code == 200
    problem(
        viewer.post(f"{API}/alerts/{alert.id}/acknowledgement", {"note": ""}, format="json"), 403
    )
    problem(viewer.post(f"{API}/silences", {}, format="json"), 403)
