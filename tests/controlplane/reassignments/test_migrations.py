"""What an earlier version stored has the fields of today after the migration."""

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


WITHOUT_LIMIT = ("reassignments", "0002_plans_of_before")
WITH_LIMIT = ("reassignments", "0003_changing_limit")


def test_a_lease_of_before_has_the_limit_of_its_plan():
    """Else the next tick of an operation under way would take the limit for lifted."""
    old = migrated(WITHOUT_LIMIT)
    try:
        tenant = old.get_model("tenants", "Tenant").objects.create(
            id="tn_1", slug="acme", name="Acme"
        )
        plan = plans(old).create(
            id="pl_1",
            tenant=tenant,
            kind="reassignment",
            resource="r",
            inputs={"throttle_bytes_per_s": 5_000},
            diff={},
            impact={},
            preconditions={},
            plan_hash="0" * 64,
            created_by="user:test",
            expires_at=timezone.now(),
        )
        old.get_model("operations", "Operation").objects.create(
            id="op_1", tenant=tenant, plan=plan, kind="reassignment", resource="r", actor="a"
        )
        leases = old.get_model("reassignments", "ThrottleLease").objects
        for operation_id in ("op_1", "op_gone"):
            leases.create(
                operation_id=operation_id,
                cluster_id="kc_1",
                broker_ids=[1],
                topics=["orders"],
                expires_at=timezone.now(),
            )
        new = migrated(WITH_LIMIT).get_model("reassignments", "ThrottleLease").objects
        assert new.get(operation_id="op_1").bytes_per_s == 5_000
        assert new.get(operation_id="op_gone").bytes_per_s is None
    finally:
        migrated(WITH_LIMIT)
