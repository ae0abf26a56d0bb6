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
