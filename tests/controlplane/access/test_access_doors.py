"""`/clusters/{id}/access/…`: matrix, decision and templates, for whom they are and of what."""

import pytest

from controlplane.gateway.errors import unreachable
from controlplane.gateway.types import AclBinding
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

pytestmark = pytest.mark.django_db


def rule(**changes):
    values = {
        "principal": "User:app",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
        "resource_type": "TOPIC",
        "resource_name": "orders",
        "pattern_type": "LITERAL",
    }
    return AclBinding(**{**values, **changes})


@pytest.fixture
def rules(world):
    found = [
        rule(),
        rule(principal="User:other", permission="DENY", host="10.0.0.9"),
        rule(principal="User:other", resource_type="GROUP", resource_name="workers"),
        rule(principal="User:*", operation="DESCRIBE", resource_name="*"),
    ]
    world.gateway.acls |= set(found)
    for overrides in world.gateway.broker_overrides.values():
        overrides["authorizer.class.name"] = "kafka.security.authorizer.AclAuthorizer"
        overrides["super.users"] = "User:root"
    observed(world)
    return found


def ask(world, what, client=None, **query):
    client = client or client_for(world.tenant, "viewer")
    return client.get(f"/api/v1/clusters/{world.cluster.id}/access/{what}", query)


ORDERS = {"resource_type": "topic", "resource_name": "orders"}


def test_the_decision_names_the_rule_that_allows(world, rules):
    found = ask(world, "decision", principal="User:app", operation="read", **ORDERS).json()
    assert (found["verdict"], found["reason"]) == ("allowed", "allow-rule")
    assert [row["principal"] for row in found["deciding"]] == ["User:app"]
    assert found["acls"]["as_of"] is not None
    assert found["text"] == (
        "User:app may read the topic orders: 1 ACL allows it and none denies it."
    )


def test_the_decision_names_what_is_missing_and_templates_that_have_it(world, rules):
    found = ask(world, "decision", principal="User:app", operation="WRITE", **ORDERS).json()
    assert (found["verdict"], found["reason"]) == ("denied", "not-granted")
    assert [row["operation"] for row in found["missing"]] == ["WRITE"]
    assert found["templates"] == ["producer", "transactional-producer", "streams"]


def test_the_decision_names_hosts_with_another_answer(world, rules):
    found = ask(world, "decision", principal="User:other", operation="DESCRIBE", **ORDERS).json()
    assert (found["verdict"], found["other_hosts"]) == ("allowed", [])
    from_there = ask(
        world, "decision", principal="User:other", operation="READ", host="10.0.0.9", **ORDERS
    ).json()
    assert from_there["reason"] == "deny-rule"


def test_super_users_may_everything(world, rules):
    found = ask(world, "decision", principal="User:root", operation="DELETE", **ORDERS).json()
    assert (found["verdict"], found["reason"]) == ("allowed", "super-user")


def test_without_the_brokers_settings_it_is_unknown_unless_a_rule_allows(world, rules):
    world.gateway.fail_next("describe_cluster", unreachable("main"))
    found = ask(world, "decision", principal="User:app", operation="WRITE", **ORDERS).json()
    assert (found["verdict"], found["reason"]) == ("unknown", "settings-unknown")
    assert "super.users" in found["unknown"]
    assert found["unknown_reason"]
    world.gateway.fail_next("describe_cluster", unreachable("main"))
    found = ask(world, "decision", principal="User:app", operation="READ", **ORDERS).json()
    assert found["verdict"] == "allowed"


def test_without_an_authorizer_everybody_may_and_no_rule_is_asked_for(world):
    found = ask(world, "decision", principal="User:app", operation="WRITE", **ORDERS).json()
    assert (found["verdict"], found["reason"]) == ("allowed", "no-authorizer")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"principal": "app"}, "/principal"),
        ({"principal": "User:" + "a" * 201}, "/principal"),
        ({"operation": "WRITE", "resource_type": "GROUP", "resource_name": "g"}, "/operation"),
        ({"operation": "ALL"}, "/operation"),
        ({"resource_type": "TOPIC"}, "/resource_name"),
        ({"resource_name": "other"}, "/resource_name"),
        ({"resource_type": "SHOE"}, "/resource_type"),
        ({"host": "somewhere"}, "/host"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_at_its_field(world, rules, query, pointer):
    found = problem(ask(world, "decision", **query), 422)
    assert [error["pointer"] for error in found["errors"]] == [pointer]


def test_the_matrix_is_paged_by_principals_and_narrowed(world, rules):
    first = ask(world, "matrix", page_size=2).json()
    assert [row["principal"] for row in first["data"]] == ["User:*", "User:app"]
    assert first["principals"] == 3
    following = ask(world, "matrix", page_size=2, cursor=first["page"]["next"]).json()
    assert [row["principal"] for row in following["data"]] == ["User:other"]
    assert following["page"] == {"next": None, "has_more": False}
    denial = following["data"][0]["cells"][0]
    assert following["resources"][denial["resource"]]["resource_name"] == "orders"
    assert denial["deny"] == [{"operation": "READ", "hosts": ["10.0.0.9"]}]
    groups = ask(world, "matrix", resource_type="GROUP").json()
    assert [row["principal"] for row in groups["data"]] == ["User:other"]
    assert [row["resource_name"] for row in groups["resources"]] == ["workers"]
    assert ask(world, "matrix", principal="APP", resource="ord").json()["principals"] == 1


def test_a_matrix_that_cannot_be_read_says_why_and_is_not_empty(world):
    world.gateway.offline = True
    problem(ask(world, "matrix"), 503)


def test_the_matrix_refuses_what_it_does_not_know(world, rules):
    assert problem(ask(world, "matrix", resource_type="SHOE"), 422)
    assert problem(ask(world, "matrix", principal="a" * 251), 422)


def test_templates_are_those_of_the_service(world):
    found = ask(world, "templates").json()["data"]
    assert [row["name"] for row in found] == [
        "consumer",
        "producer",
        "transactional-producer",
        "streams",
        "read-only-admin",
    ]


@pytest.mark.parametrize("what", ["matrix", "decision", "templates"])
def test_somebody_elses_cluster_is_not_there(world, rules, what):
    other = tenant_make("other")
    theirs = cluster_make(other, name="theirs")
    client = client_for(world.tenant, "owner")
    problem(client.get(f"/api/v1/clusters/{theirs.id}/access/{what}"), 404)
