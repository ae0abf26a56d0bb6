"""Where users and rules are not as the last verified operation left them; null while not read."""

import pytest

from controlplane.common.problems import Conflict
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import AclBinding
from controlplane.operations.selectors import undo_of
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
    said = asked(app)
    assert (part["status"], {key: part["data"][key] for key in said}) == ("ok", said)
    assert [row["name"] for row in part["data"]["data"]] == ["app"]


# -- mended either way
def ways(world):
    observed(world)
    return {row["name"]: row for row in asked(world)["data"]}


def run(world, way):
    operation = world.run(way["kind"], **way["inputs"])
    assert operation.state == SUCCEEDED, operation.error
    return operation


def test_a_rule_that_is_gone_is_made_again(app):
    app.gateway.delete_acls([AclBinding(**RULE)])
    row = ways(app)[WORDS]
    assert row["who"]["by"] == "unknown"
    run(app, row["back"])
    assert AclBinding(**RULE) in app.gateway.list_acls()
    assert drift(app) == []


def test_a_rule_that_is_gone_is_taken_over_as_gone(app):
    app.gateway.delete_acls([AclBinding(**RULE)])
    operation = run(app, ways(app)[WORDS]["adopt"])
    assert undo_of(operation) is None
    assert AclBinding(**RULE) not in app.gateway.list_acls()
    assert drift(app) == []
    app.gateway.create_acls([AclBinding(**RULE)])
    assert drift(app) == [("acl", WORDS, "not there", "there")]


def test_a_rule_that_is_back_goes_or_is_taken_over(app):
    app.run("acl.delete", bindings=[RULE])
    app.gateway.create_acls([AclBinding(**RULE)])
    run(app, ways(app)[WORDS]["adopt"])
    assert AclBinding(**RULE) in app.gateway.list_acls()
    assert drift(app) == []
    app.run("acl.delete", bindings=[RULE])
    app.gateway.create_acls([AclBinding(**RULE)])
    run(app, ways(app)[WORDS]["back"])
    assert AclBinding(**RULE) not in app.gateway.list_acls()
    assert drift(app) == []


@pytest.mark.parametrize(("kind", "is_there"), [("acl.create", False), ("acl.delete", True)])
def test_no_rule_is_taken_over_that_is_not_as_said(app, kind, is_there):
    if not is_there:
        app.gateway.delete_acls([AclBinding(**RULE)])
    with pytest.raises(Conflict) as caught:
        app.plan(kind, bindings=[RULE], adopt=True)
    assert caught.value.code == "not-as-observed"


def test_a_login_that_is_gone_has_no_way_back_since_passwords_are_not_kept(app):
    app.gateway.delete_user("app", MECHANISM)
    row = ways(app)["app"]
    assert (row["back"], row["adopt"]) == (None, None)
    assert "Passwords are not kept" in row["back_problem"]


def test_a_user_that_somebody_made_again_is_deleted(app):
    app.run("user.delete", username="app")
    app.gateway.upsert_user("app", MECHANISM, "secret-of-theirs")
    run(app, ways(app)["app"]["back"])
    assert drift(app) == []
