"""A plan that an earlier version stored has the fields of today after the migration."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE, AFTER = ("reassignments", "0001_initial"), ("reassignments", "0002_plans_of_before")
LOAD = {"id": 1, "before_bytes": 5, "after_bytes": 0, "before_replicas": 1, "after_replicas": 0}
UNKNOWN = ("before_leaders", "after_leaders", "before_rack_violations", "after_rack_violations")


def migrated(to):
    """The app's tables at a migration, every other app's at its newest; the models there."""
    executor = MigrationExecutor(connection)
    executor.migrate([to])
    graph = MigrationExecutor(connection).loader.graph
    others = [node for node in graph.leaf_nodes() if node[0] != "reassignments"]
    return MigrationExecutor(connection).loader.project_state([to, *others]).apps


def plans(apps):
    return apps.get_model("operations", "Plan").objects


def test_an_older_plan_says_what_it_does_not_know():
    old = migrated(BEFORE)
    try:
        common = {
            "tenant": old.get_model("tenants", "Tenant").objects.create(
                id="tn_1", slug="acme", name="Acme"
            ),
            "resource": "r",
            "inputs": {},
            "impact": {},
            "preconditions": {},
            "plan_hash": "0" * 64,
            "created_by": "user:test",
            "expires_at": timezone.now(),
        }
        diff = {"partitions": [], "brokers": [LOAD]}
        plans(old).create(id="pl_1", kind="reassignment", diff=diff, **common)
        plans(old).create(id="pl_2", kind="topic.create", diff={"brokers": [LOAD]}, **common)
        new = migrated(AFTER)
        assert plans(new).get(pk="pl_1").diff == {
            "partitions": [],
            "brokers": [LOAD | dict.fromkeys(UNKNOWN)],
            "balance": None,
            "limits": [],
        }
        assert plans(new).get(pk="pl_2").diff == {"brokers": [LOAD]}
        assert plans(migrated(BEFORE)).get(pk="pl_1").diff == diff
    finally:
        migrated(AFTER)
