"""A plan that reaches further than its reader sees says how far, and names nothing of it."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import OPERATOR, Grant, Match, Over, Pattern
from controlplane.gateway.types import TP, AclBinding
from controlplane.operations.models import Operation
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import MAIN, TEAM, key_of, unseen
from tests.controlplane.support import client_for, drive

API = "/api/v1"


@pytest.fixture(autouse=True)
def read_by_others(world):
    """team-a's topic, read by a group of another team through a rule of another team's user."""
    gateway = world.gateway
    gateway.add_topic("team-a-x", partitions=1, records=100)
    for group in ("secret-readers", "team-a-g"):
        gateway.add_group(group, {TP("team-a-x", 0): 7}, members=1)
    gateway.create_acls([rule("User:secret-user")])


def rule(principal):
    return AclBinding(
        principal=principal,
        host="*",
        operation="READ",
        permission="ALLOW",
        resource_type="TOPIC",
        resource_name="team-",
        pattern_type="PREFIXED",
    )


def planned(client, world, kind, **inputs):
    body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    return client.post(f"{API}/plans", body, format="json")


KINDS = [
    ("topic.delete", {"name": "team-a-x"}),
    ("topic.empty", {"name": "team-a-x"}),
    ("topic.partitions", {"name": "team-a-x", "partitions": 3}),
]


@pytest.mark.parametrize(("kind", "inputs"), KINDS)
def test_who_sees_a_part_is_told_how_many_others_it_hits(world, kind, inputs):
    answer = planned(key_of(world.tenant), world, kind, **inputs)
    assert answer.status_code == 201
    assert unseen(answer.content.decode()) == []
    rows = {row["name"]: row for row in answer.json()["impact"]["blast_radius"]}
    assert (rows["groups"]["value"], rows["groups"]["names"]) == (2, ["team-a-g"])
    assert rows["groups"]["hidden"] == 1
    texts = " ".join(row["text"] for row in answer.json()["impact"]["warnings"])
    if kind != "topic.partitions":
        assert "team-a-g" in texts
        assert "and 1 more group." in texts


@pytest.mark.parametrize(("kind", "inputs"), KINDS)
def test_nor_does_the_owners_plan_name_them_to_who_sees_its_topic(world, kind, inputs):
    owner, team = client_for(world.tenant), key_of(world.tenant)
    made = planned(owner, world, kind, **inputs).json()
    assert "secret-readers" in str(made)
    shown = team.get(f"{API}/plans/{made['id']}")
    assert shown.status_code == 200
    assert unseen(shown.content.decode()) == []
    body = {"plan_id": made["id"], "plan_hash": made["plan_hash"], "confirm": "team-a-x"}
    started = owner.post(f"{API}/operations", body, format="json")
    assert started.status_code == 202, started.content
    drive(Operation.objects.get(pk=started.json()["id"]))
    for address in (f"operations/{started.json()['id']}", "audit-events", "timeline"):
        assert unseen(team.get(f"{API}/{address}").content.decode()) == [], address


def test_a_confirmation_that_would_hit_more_names_it_as_far_as_it_is_seen(world):
    team = key_of(world.tenant)
    made = planned(team, world, "topic.delete", name="team-a-x").json()
    world.gateway.add_group("secret-made", {TP("team-a-x", 0): 1})
    world.gateway.create_acls([rule("User:secret-made")])
    body = {"plan_id": made["id"], "plan_hash": made["plan_hash"], "confirm": "team-a-x"}
    refused = team.post(f"{API}/operations", body, format="json")
    assert problem(refused, 409)["code"] == "blast-radius-changed"
    assert unseen(refused.content.decode()) == []


def test_an_operation_that_would_hit_more_by_its_turn_names_nobody(world):
    owner, team = client_for(world.tenant), key_of(world.tenant)
    made = planned(owner, world, "topic.delete", name="team-a-x").json()
    body = {"plan_id": made["id"], "plan_hash": made["plan_hash"], "confirm": "team-a-x"}
    started = owner.post(f"{API}/operations", body, format="json").json()
    world.gateway.add_group("secret-made", {TP("team-a-x", 0): 1})
    assert drive(Operation.objects.get(pk=started["id"])).state == "failed"
    shown = team.get(f"{API}/operations/{started['id']}")
    assert shown.json()["error"]["code"] == "blast-radius-changed"
    assert unseen(shown.content.decode()) == []


def test_a_group_is_deleted_by_who_sees_all_topics_in_which_it_stands(world):
    """The plan, its record and its undo say where it stood: as a reset of its offsets does."""
    world.gateway.add_topic("secret-orders", partitions=1, records=50)
    world.gateway.add_group("team-a-idle", {TP("secret-orders", 0): 7, TP("team-a-x", 0): 7})
    team = key_of(world.tenant)
    refused = planned(team, world, "group.delete", group="team-a-idle")
    assert problem(refused, 403)["detail"] == (
        "This needs the role viewer on every topic that this is about."
    )
    assert unseen(refused.content.decode()) == []
    assert unseen(team.get(f"{API}/audit-events").content.decode()) == []
    made = planned(client_for(world.tenant), world, "group.delete", group="team-a-idle").json()
    problem(team.get(f"{API}/plans/{made['id']}"), 404)
    assert AuditEvent.objects.filter(action="group.delete.plan").exists()
    assert unseen(team.get(f"{API}/audit-events").content.decode()) == []

    world.gateway.add_group("team-a-done", {TP("team-a-x", 0): 7})
    assert planned(team, world, "group.delete", group="team-a-done").status_code == 201


def test_a_grant_over_groups_alone_deletes_one_that_stands_nowhere(world):
    over_groups = Grant(role=OPERATOR, clusters=MAIN, over=Over.GROUP, names=TEAM)
    key = key_of(world.tenant, [over_groups.as_row()])
    world.gateway.add_group("team-a-new", {})
    assert planned(key, world, "group.delete", group="team-a-new").status_code == 201
    problem(planned(key, world, "group.delete", group="team-a-g"), 409)  # it has members


def test_a_grant_over_another_topic_sees_no_plan_of_this_one(world):
    made = planned(client_for(world.tenant), world, "topic.delete", name="team-a-x").json()
    other = Grant(
        role=OPERATOR, clusters=MAIN, over=Over.TOPIC, names=Pattern(Match.LITERAL, "team-b")
    )
    problem(key_of(world.tenant, [other.as_row()]).get(f"{API}/plans/{made['id']}"), 404)
