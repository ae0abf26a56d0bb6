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
    values = {"slug": "acme", "name": "Acme"}
    return apps.get_model("tenants", "Tenant").objects.get_or_create(id="tn_1", defaults=values)[0]


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
    """By operation."""
    found = {row.pk: [] for row in apps.get_model("operations", "Operation").objects.all()}
    for row in apps.get_model("operations", "OperationLock").objects.order_by("resource", "name"):
        found[row.operation_id].append((row.scope, row.resource, row.name, row.mode))
    return found


# Kind, the fields of its plan, the key that it held, its locks beside the cluster's.
UNDER_WAY = (
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
)
TENANT_LOCKS = [("cl_0", "cluster", "", "exclusive"), ("tn_1", "cluster-name", "new", "exclusive")]
CLUSTERS = (
    ("cluster.create", "tn_1:cluster/new", TENANT_LOCKS),
    ("cluster.delete", "cl_1:cluster", [("cl_1", "cluster", "", "exclusive")]),
)


def keys_of(apps):
    return dict(apps.get_model("operations", "Operation").objects.values_list("id", "lock_key"))


def test_what_is_under_way_keeps_its_locks(at):
    """Each kind on a cluster of its own, beside one that has ended."""
    old = at("0004_users_and_acls")
    expected, keys = {}, {}
    for number, (kind, fields, key, locks) in enumerate(UNDER_WAY):
        cluster, name = f"cl_{number}", f"op_{number}"
        plan = plan_of(
            old, id=f"pl_{number}", kind=kind, preconditions={}, cluster_id=cluster, **fields
        )
        keys[name] = key and key.replace("cl_1", cluster)
        operation_of(old, plan, id=name, cluster_id=cluster, lock_key=keys[name], state="running")
        expected[name] = [(cluster, "cluster", "", "shared"), *((cluster, *lock) for lock in locks)]
    ended = plan_of(old, id="pl_ended", kind="topic.delete", preconditions={}, inputs={"name": "t"})
    operation_of(old, ended, id="op_ended", cluster_id="cl_1", state="succeeded")
    expected["op_ended"], keys["op_ended"] = [], None
    assert held(at("0005_locks")) == expected
    assert keys_of(at("0004_users_and_acls")) == keys
    assert held(at("0005_locks")) == expected


def test_a_cluster_under_way_keeps_its_locks(at):
    old = at("0004_users_and_acls")
    inputs = {"resource": "cluster/new", "inputs": {"name": "new"}}
    for number, (kind, key, _) in enumerate(CLUSTERS):
        plan = plan_of(old, id=f"pl_{number}", kind=kind, preconditions={}, **inputs)
        operation_of(old, plan, id=f"op_{number}", cluster_id=f"cl_{number}", lock_key=key)
    assert held(at("0005_locks")) == {
        f"op_{at}": locks for at, (_, _, locks) in enumerate(CLUSTERS)
    }
    assert keys_of(at("0004_users_and_acls")) == {
        f"op_{at}": key for at, (_, key, _) in enumerate(CLUSTERS)
    }
