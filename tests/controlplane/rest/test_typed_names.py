"""Whatever can lose data or access is confirmed only with its name typed, and nothing else is."""

import pytest

from controlplane.gateway.types import TP
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for

pytestmark = pytest.mark.django_db

READ = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
}
EVERYTHING = {**READ, "principal": "User:*", "operation": "ALL", "resource_name": "*"}
RISKY = [
    ("topic.delete", {"name": "orders"}, ["loses-data"], "orders"),
    ("topic.empty", {"name": "orders"}, ["loses-data"], "orders"),
    (
        "topic.update",
        {"name": "orders", "configs": {"retention.ms": "1000"}},
        ["loses-data"],
        "orders",
    ),
    (
        "topic.update",
        {"name": "orders", "configs": {"retention.bytes": "1"}},
        ["loses-data"],
        "orders",
    ),
    (
        "topic.update",
        {"name": "orders", "configs": {"cleanup.policy": "compact"}},
        ["loses-data"],
        "orders",
    ),
    (
        "topic.update",
        {"name": "orders", "configs": {"unclean.leader.election.enable": "true"}},
        ["loses-data"],
        "orders",
    ),
    (
        "topic.update",
        {"name": "orders", "configs": {"min.insync.replicas": "1"}},
        ["loses-data"],
        "orders",
    ),
    ("user.delete", {"username": "app"}, ["loses-access"], "app"),
    ("user.rotate", {"username": "app"}, ["loses-access"], "app"),
    ("user.rotate", {"username": "app", "overlap_s": 60}, ["loses-access"], "app"),
    ("user.retire", {"username": "two", "mechanism": "SCRAM-SHA-256"}, ["loses-access"], "two"),
    ("acl.create", {"bindings": [EVERYTHING]}, ["opens-access"], "User:*"),
    ("acl.create", {"bindings": [{**READ, "permission": "DENY"}]}, ["loses-access"], "User:app"),
    ("acl.delete", {"bindings": [READ]}, ["loses-access"], "User:app"),
    ("group.delete", {"group": "readers"}, ["skips-records"], "readers"),
    ("offset.reset", {"group": "readers", "strategy": "latest"}, ["skips-records"], "readers"),
    (
        "reassignment",
        {"moves": [{"topic": "orders", "partition": 0, "replicas": [1]}]},
        ["loses-data"],
        "orders",
    ),
    ("cluster.delete", {}, ["loses-data"], "main"),
]
HARMLESS = [
    ("topic.create", {"name": "new", "configs": {"min.insync.replicas": "1"}}),
    ("topic.update", {"name": "orders", "configs": {"retention.ms": "-1"}}),
    ("topic.update", {"name": "orders", "configs": {"max.message.bytes": "2000000"}}),
    ("topic.partitions", {"name": "orders", "partitions": 9}),
    ("user.create", {"username": "other"}),
    ("acl.create", {"bindings": [{**READ, "operation": "WRITE"}]}),
    ("offset.reset", {"group": "readers", "strategy": "earliest"}),
    ("reassignment", {"moves": [{"topic": "orders", "partition": 0, "replicas": [2, 3, 4]}]}),
]


@pytest.fixture
def owner(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60, TP("orders", 1): 80})
    world.run("user.create", username="app", acls=[READ])
    world.run("user.create", username="two")
    world.run("user.rotate", username="two", overlap_s=60)
    client = client_for(world.tenant)
    client.raise_request_exception = False
    return client


def planned(world, owner, kind, inputs):
    body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    answer = owner.post("/api/v1/plans", body, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def confirm(owner, plan, **typed):
    body = {"plan_id": plan["id"], "plan_hash": plan["plan_hash"], **typed}
    return owner.post("/api/v1/operations", body, format="json")


@pytest.mark.parametrize("case", RISKY, ids=lambda case: f"{case[0]} {case[2][0]}")
def test_a_risky_plan_wants_the_name(world, owner, case):
    kind, inputs, risks, name = case
    plan = planned(world, owner, kind, inputs)
    assert plan["impact"]["risks"] == risks
    assert plan["confirm_phrase"] == name
    for typed in ({}, {"confirm": ""}, {"confirm": "yes"}, {"confirm": name.upper() + " "}):
        found = problem(confirm(owner, plan, **typed), 422)
        assert found["code"] == "confirm-mismatch"
        assert found["errors"][0]["pointer"] == "/confirm"
    assert confirm(owner, plan, confirm=name).status_code == 202


@pytest.mark.parametrize(("kind", "inputs"), HARMLESS)
def test_a_plan_without_a_risk_wants_none(world, owner, kind, inputs):
    plan = planned(world, owner, kind, inputs)
    assert (plan["impact"]["risks"], plan["confirm_phrase"]) == ([], None)
    assert confirm(owner, plan).status_code == 202


def test_a_removal_that_became_the_last_one_needs_a_new_plan(world, owner):
    wide = {**READ, "operation": "ALL"}
    world.run("acl.create", bindings=[wide])
    plan = planned(world, owner, "acl.delete", {"bindings": [READ]})
    assert plan["confirm_phrase"] is None
    world.run("acl.delete", bindings=[wide])
    found = problem(confirm(owner, plan), 409)
    assert found["code"] == "blast-radius-changed"
    assert found["changes"][0]["added"] == ["User:app ALLOW READ on TOPIC orders"]


def test_a_cut_of_a_topic_that_grew_needs_a_new_plan(world, owner):
    world.gateway.add_topic("fresh")
    inputs = {"name": "fresh", "configs": {"cleanup.policy": "compact"}}
    plan = planned(world, owner, "topic.update", inputs)
    world.gateway.topics["fresh"].partitions[0].log_end = 5_000
    found = problem(confirm(owner, plan, confirm="fresh"), 409)
    assert (found["code"], found["changes"][0]["now"]) == ("blast-radius-changed", 5_000)


def test_moves_of_several_topics_ask_for_the_cluster(world, owner):
    world.gateway.add_topic("more")
    moves = [{"topic": name, "partition": 0, "replicas": [1]} for name in ("orders", "more")]
    plan = planned(world, owner, "reassignment", {"moves": moves})
    assert plan["confirm_phrase"] == world.cluster.name
