import pytest

from controlplane.common.problems import Conflict, Gone, Problem
from controlplane.operations.services import secret_take, undo_plan_create
from tests.controlplane.support import ACTOR, drive

ACL = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "PREFIXED",
}


def take(world, operation):
    return secret_take(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)


def test_user_create_gives_the_password_once(world):
    operation = world.run("user.create", username="app", acls=[ACL])
    assert operation.state == "succeeded"
    secret = take(world, operation)
    assert world.gateway.users == {("app", "SCRAM-SHA-512"): secret["password"]}
    assert len(world.gateway.acls) == 1
    with pytest.raises(Gone):
        take(world, operation)


def test_the_secret_is_not_shown_before_it_works(world):
    operation = world.start(world.plan("user.create", username="app"))
    with pytest.raises(Conflict, match="not succeeded"):
        take(world, operation)


def test_a_retry_keeps_the_password(world):
    from controlplane.gateway.errors import unreachable

    operation = world.start(world.plan("user.create", username="app"))
    world.gateway.fail_next("upsert_user", unreachable("x"))
    world.gateway.fail_next("create_acls", unreachable("x"))
    drive(operation)
    password = take(world, operation)["password"]
    assert world.gateway.users["app", "SCRAM-SHA-512"] == password


def test_user_delete_takes_its_rules_along(world):
    world.run("user.create", username="app", acls=[ACL])
    other = {**ACL, "principal": "User:other"}
    world.run("acl.create", bindings=[other])
    operation = world.run("user.delete", username="app")
    assert operation.state == "succeeded"
    assert world.gateway.users == {}
    assert [binding.principal for binding in world.gateway.acls] == ["User:other"]


def test_rotation_changes_the_password_only(world):
    first = world.run("user.create", username="app", acls=[ACL])
    second = world.run("user.rotate", username="app")
    old, new = take(world, first), take(world, second)
    assert old["password"] != new["password"]
    assert world.gateway.users["app", "SCRAM-SHA-512"] == new["password"]


def test_acl_create_and_undo(world):
    operation = world.run("acl.create", bindings=[ACL])
    assert len(world.gateway.acls) == 1
    with pytest.raises(Conflict, match="already"):
        world.plan("acl.create", bindings=[ACL])
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert undo.kind == "acl.delete"
    assert drive(world.start(undo)).state == "succeeded"
    assert not world.gateway.acls


def test_words_may_be_in_any_case_and_are_checked(world):
    plan = world.plan("acl.create", bindings=[{**ACL, "operation": "read"}])
    assert plan.diff["after"][0]["operation"] == "READ"
    with pytest.raises(Problem) as caught:
        world.plan("acl.create", bindings=[{**ACL, "resource_type": "GROUP", "operation": "WRITE"}])
    assert caught.value.errors[0]["pointer"] == "/inputs/bindings/0/operation"


@pytest.mark.parametrize("kind", ["user.create", "user.delete", "user.rotate"])
def test_the_services_own_users_are_out_of_reach(world, kind):
    with pytest.raises(Conflict, match="service's own"):
        world.plan(kind, username="penstock-admin")


def test_the_services_prefix_is_reserved(world):
    with pytest.raises(Problem) as caught:
        world.plan("user.create", username="penstock-mine")
    assert caught.value.errors[0]["code"] == "reserved"


def test_acls_of_a_new_user_are_its_own(world):
    with pytest.raises(Problem, match="must be User:app2"):
        world.plan("user.create", username="app2", acls=[ACL])
