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
        executor.migrate([("operations", name), ("tenants", "0002_api_key_expires_at")])
        return MigrationExecutor(connection).loader.project_state([("operations", name)]).apps

    yield move
    executor = MigrationExecutor(connection)
    # Other apps' migrations that come after were taken back too.
    executor.migrate(executor.loader.graph.leaf_nodes())


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


def held(apps):
    rows = apps.get_model("operations", "OperationLock").objects.order_by("resource", "name")
    return [(row.scope, row.resource, row.name, row.mode) for row in rows]


@pytest.mark.parametrize(
    ("kind", "fields", "key", "locks"),
    [
        (
            "topic.update",
            {"inputs": {"name": "t"}},
            "cl_1:topic/t",
            [("topic", "t", "shared"), ("topic-config", "t", "exclusive")],
        ),
        (
            "topic.delete",
            {"inputs": {"name": "t"}, "diff": {"before": {"partitions": 3}}},
            "cl_1:topic/t",
            [("topic", "t", "exclusive")],
        ),
        (
            "reassignment",
            {"diff": {"partitions": [{"topic": "b"}, {"topic": "a"}, {"topic": "b"}]}},
            "cl_1:reassignment",
            [("placement", "", "exclusive"), ("topic", "a", "shared"), ("topic", "b", "shared")],
        ),
        (
            "offset.reset",
            {"inputs": {"group": "g"}, "diff": {"partitions": [{"topic": "a"}]}},
            "cl_1:group/g",
            [("group", "g", "exclusive"), ("topic", "a", "shared")],
        ),
        ("group.delete", {"inputs": {"group": "g"}}, "cl_1:group/g", [("group", "g", "exclusive")]),
        (
            "user.rotate",
            {"inputs": {"username": "u"}, "resource": "user/u"},
            "cl_1:user/u",
            [("user", "u", "exclusive")],
        ),
        (
            "acl.create",
            {"inputs": {"bindings": [{"principal": "User:b"}, {"principal": "User:a"}]}},
            None,
            [("user", "a", "shared"), ("user", "b", "shared")],
        ),
    ],
)
def test_what_is_under_way_keeps_its_locks(at, kind, fields, key, locks):
    old = at("0004_users_and_acls")
    plan = plan_of(old, kind=kind, preconditions={}, cluster_id="cl_1", **fields)
    operation_of(old, plan, cluster_id="cl_1", lock_key=key, state="running")
    expected = [("cl_1", "cluster", "", "shared"), *(("cl_1", *lock) for lock in locks)]
    assert held(at("0005_locks")) == expected
    row = at("0004_users_and_acls").get_model("operations", "Operation").objects.get()
    assert row.lock_key == key
    assert held(at("0005_locks")) == expected


@pytest.mark.parametrize(
    ("kind", "key", "locks"),
    [
        (
            "cluster.create",
            "tn_1:cluster/new",
            [("cl_1", "cluster", "", "exclusive"), ("tn_1", "cluster-name", "new", "exclusive")],
        ),
        ("cluster.delete", "cl_1:cluster", [("cl_1", "cluster", "", "exclusive")]),
    ],
)
def test_a_cluster_under_way_keeps_its_locks(at, kind, key, locks):
    old = at("0004_users_and_acls")
    plan = plan_of(old, kind=kind, resource="cluster/new", preconditions={}, inputs={"name": "new"})
    operation_of(old, plan, cluster_id="cl_1", lock_key=key)
    assert held(at("0005_locks")) == locks
    row = at("0004_users_and_acls").get_model("operations", "Operation").objects.get()
    assert row.lock_key == key


def test_what_has_ended_holds_nothing(at):
    old = at("0004_users_and_acls")
    plan = plan_of(old, kind="topic.delete", preconditions={}, inputs={"name": "t"})
    operation_of(old, plan, cluster_id="cl_1", state="succeeded")
    assert held(at("0005_locks")) == []
