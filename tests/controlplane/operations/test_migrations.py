"""Rows that an earlier version wrote mean the same after the migration, and again after its way back."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def at():
    """Take the tables of the app to a migration; its models at that point. The newest at the end."""

    def move(name):
        executor = MigrationExecutor(connection)
        executor.migrate([("operations", name)])
        return MigrationExecutor(connection).loader.project_state([("operations", name)]).apps

    yield move
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("operations"))


def tenant_of(apps):
    return apps.get_model("tenants", "Tenant").objects.create(id="tn_1", slug="acme", name="Acme")


def plan_of(apps, **fields):
    values = {
        "id": "pl_1",
        "kind": "topic.create",
        "resource": "topic/t",
        "inputs": {},
        "diff": {},
        "impact": {},
        "plan_hash": "0" * 64,
        "created_by": "user:test",
        "expires_at": timezone.now(),
    }
    return apps.get_model("operations", "Plan").objects.create(
        **values | fields, tenant=tenant_of(apps)
    )


def test_a_plans_preconditions_are_kept(at):
    old = at("0001_initial")
    plan_of(old, basis={"exists": False})
    new = at("0002_rename_basis")
    assert new.get_model("operations", "Plan").objects.get().preconditions == {"exists": False}
    back = at("0001_initial")
    assert back.get_model("operations", "Plan").objects.get().basis == {"exists": False}


def operation_of(apps, plan, **fields):
    values = {"id": "op_1", "kind": plan.kind, "resource": plan.resource, "actor": "user:test"}
    return apps.get_model("operations", "Operation").objects.create(
        **values | fields, plan=plan, tenant_id=plan.tenant_id
    )


def test_an_operation_that_rolls_back_goes_on_doing_so(at):
    old = at("0002_rename_basis")
    error = {"code": "step-timeout", "step": "move"}
    plan = plan_of(old, preconditions={})
    operation_of(old, plan, unwinding=True, error=error | {"unwind_incomplete": "throttle"})
    row = at("0003_rename_unwinding").get_model("operations", "Operation").objects.get()
    assert row.rolling_back
    assert row.error == error | {"rollback_incomplete": "throttle"}
    row = at("0002_rename_basis").get_model("operations", "Operation").objects.get()
    assert row.unwinding
    assert row.error == error | {"unwind_incomplete": "throttle"}


def test_an_error_without_a_failed_rollback_stays_as_it_is(at):
    old = at("0002_rename_basis")
    operation_of(old, plan_of(old, preconditions={}), error={"code": "gone"})
    row = at("0003_rename_unwinding").get_model("operations", "Operation").objects.get()
    assert row.error == {"code": "gone"}
    assert not row.rolling_back


def words_of(apps):
    plan = apps.get_model("operations", "Plan").objects.get()
    row = apps.get_model("operations", "Operation").objects.get()
    steps = list(row.steps.order_by("index").values_list("name", flat=True))
    return [said["code"] for said in plan.impact["warnings"]], steps, row.error


def test_what_rows_say_of_users_and_acls_follows(at):
    before = (
        ["no-grants", "no-undo"],
        ["credential", "grants"],
        {"code": "service-login", "step": "grants", "status": 409},
    )
    after = (
        ["no-acls", "no-undo"],
        ["credential", "acls"],
        {"code": "service-user", "step": "acls", "status": 409},
    )
    old = at("0003_rename_unwinding")
    impact = {"summary": "", "warnings": [{"code": code} for code in before[0]]}
    row = operation_of(
        old, plan_of(old, kind="user.create", preconditions={}, impact=impact), error=before[2]
    )
    for index, name in enumerate(before[1]):
        row.steps.create(index=index, name=name, title="", phase="execute")
    assert words_of(at("0004_users_and_acls")) == after
    assert words_of(at("0003_rename_unwinding")) == before


def test_a_topic_that_is_called_grants_keeps_its_name(at):
    old = at("0003_rename_unwinding")
    operation_of(
        old,
        plan_of(old, resource="topic/grants", preconditions={}, inputs={"name": "grants"}),
        error={"code": "refused", "step": "grants"},
    )
    row = at("0004_users_and_acls").get_model("operations", "Operation").objects.get()
    assert (row.resource, row.error["step"]) == ("topic/grants", "grants")
    assert row.plan.inputs == {"name": "grants"}
