"""Where users and rules are not as the last verified operation left them; null while not read."""

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import AclBinding
from controlplane.operations.states import SUCCEEDED
from tests.controlplane.support import client_for, observed

MECHANISM = "SCRAM-SHA-512"
RULE = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
}
WORDS = "User:app ALLOW READ on TOPIC orders"


@pytest.fixture
def app(world):
    """A user with one rule, both made by an operation."""
    made = world.run("user.create", username="app", mechanism=MECHANISM, acls=[RULE])
    assert made.state == SUCCEEDED
    return world


def asked(world):
    path = f"/api/v1/clusters/{world.cluster.id}/access/drift"
    return client_for(world.tenant).get(path).json()


def drift(world):
    observed(world)
    return [
        (row["area"], row["name"], row["desired"], row["observed"]) for row in asked(world)["data"]
    ]


def test_as_it_was_left_nothing_drifts(app):
    assert drift(app) == []


def test_what_somebody_else_took_away_is_named_with_the_operation_that_made_it(app):
    app.gateway.delete_user("app", MECHANISM)
    app.gateway.delete_acls([AclBinding(**RULE)])
    assert drift(app) == [
        ("user", "app", f"a login by {MECHANISM}", "no login"),
        ("acl", WORDS, "there", "not there"),
    ]
    first = asked(app)["data"][0]
    assert first["operation_id"].startswith("op_")
    assert first["text"] == (
        f"The user app has no login; the last verified operation left a login by {MECHANISM}."
    )


def test_what_was_removed_and_is_back_drifts(app):
    app.run("acl.delete", bindings=[RULE])
    app.run("user.delete", username="app")
    assert drift(app) == []
    app.gateway.upsert_user("app", "SCRAM-SHA-256", "theirs")
    app.gateway.create_acls([AclBinding(**RULE)])
    assert drift(app) == [
        ("user", "app", "no login", "a login by SCRAM-SHA-256"),
        ("acl", WORDS, "not there", "there"),
    ]


def test_a_second_way_to_log_in_that_nobody_planned_drifts(app):
    app.gateway.upsert_user("app", "SCRAM-SHA-256", "theirs")
    (row,) = drift(app)
    assert row[3] == f"a login by SCRAM-SHA-256, {MECHANISM}"


def test_an_overlap_and_its_end_are_as_they_were_left(app):
    app.run("user.rotate", username="app", overlap_s=3600)
    assert drift(app) == []
    app.run("user.retire", username="app", mechanism=MECHANISM)
    assert drift(app) == []
    app.gateway.upsert_user("app", MECHANISM, "theirs")
    (row,) = drift(app)
    assert row[2:] == ("a login by SCRAM-SHA-256", f"a login by SCRAM-SHA-256, {MECHANISM}")


def test_what_no_operation_was_about_has_no_desired_state(world):
    world.gateway.upsert_user("theirs", MECHANISM, "secret")
    world.gateway.create_acls([AclBinding(**RULE)])
    assert drift(world) == []


def test_of_what_was_never_read_nothing_is_claimed(app):
    found = asked(app)
    assert found["data"] == []
    assert found["users"] == {"as_of": None, "stale_reason": None}
    app.gateway.delete_user("app", MECHANISM)
    app.gateway.fail_next("list_acls", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    observed(app)
    found = asked(app)
    assert [row["area"] for row in found["data"]] == ["user"]
    assert found["acls"] == {"as_of": None, "stale_reason": "no"}


def test_what_could_not_be_read_again_is_as_of_before_with_its_reason(app):
    observed(app)
    app.gateway.delete_user("app", MECHANISM)
    app.gateway.offline = True
    observed(app)
    found = asked(app)
    assert found["data"] == []
    assert found["users"]["as_of"].endswith("Z")
    assert found["users"]["stale_reason"] == "the fake cluster is off"


def test_the_console_s_page_says_the_same(app):
    app.gateway.delete_user("app", MECHANISM)
    observed(app)
    page = client_for(app.tenant).get(f"/console/api/pages/access/{app.cluster.id}").json()
    part = page["parts"]["drift"]
    assert (part["status"], part["data"]) == ("ok", asked(app))
    assert [row["name"] for row in part["data"]["data"]] == ["app"]
