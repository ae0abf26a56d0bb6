"""A filled database of the first migrations is migrated to the newest, and every value is kept.

The fixture holds one row of every model that the first migrations have, each column filled. It
is data of an earlier version and does not change; what later migrations rename or remove stands in
`RENAMED` and `REMOVED`.
"""

import json
from pathlib import Path

import pytest
from django.apps import apps as newest
from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.utils.dateparse import parse_datetime

from controlplane.audit.protection import unprotect
from controlplane.common.grants import scope_of
from controlplane.tenants.permissions import key_scope

pytestmark = pytest.mark.django_db(transaction=True)

FIXTURE = json.loads(Path(__file__).with_name("filled_at_first_migrations.json").read_text())
RENAMED = {
    "operations.plan": {"basis": "preconditions"},
    "operations.operation": {"unwinding": "rolling_back"},
    "analytics.analyticsrun": {"lease_until": "lease_expires_at"},
    "analytics.collectorstate": {"lease_until": "lease_expires_at"},
}
REWORDED = {
    ("operations.plan", "impact"): {
        "summary": "Grüße",
        "warnings": [{"code": "no-acls", "text": "λ"}],
    },
    ("operations.operation", "error"): {
        "code": "service-user",
        "step": "acls",
        "rollback_incomplete": "acls",
        "text": "Grüße",
    },
    ("operations.step", "name"): "acls",
}
# Whose an idempotency key of then was is not known, so it is nobody's.
FORGOTTEN = {"common.idempotencykey"}
TURNED_TO_ROWS = {("operations.operation", "lock_key")}
REMOVED = {("observed.observedcluster", "forgotten")}


@pytest.fixture
def filled():
    """The tables as they were first, with the fixture's rows; at the newest again at the end."""
    first = list(FIXTURE["migrations"].items())
    executor = MigrationExecutor(connection)
    executor.migrate(first)
    then = MigrationExecutor(connection).loader.project_state(first).apps
    for label, values in FIXTURE["rows"].items():
        model = then.get_model(label)
        # In bulk, so that no column fills itself (`auto_now`).
        model.objects.bulk_create([model(**values)])
        model.objects.filter(pk=values[model._meta.pk.attname]).update(
            **{name: value for name, value in values.items() if is_time(model, name)}
        )
    yield then
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    unprotect(connection)  # the tables are emptied now


def is_time(model, name):
    return isinstance(model._meta.get_field(name), models.DateTimeField)


def test_the_fixture_fills_every_model_and_every_column(filled):
    apps_of_ours = set(FIXTURE["migrations"])
    theirs = [m for m in filled.get_models() if m._meta.app_label in apps_of_ours]
    assert {m._meta.label_lower for m in theirs} <= set(FIXTURE["rows"])
    for model in theirs:
        columns = {field.attname for field in model._meta.concrete_fields}
        assert columns == set(FIXTURE["rows"][model._meta.label_lower]), model


def test_every_app_with_migrations_is_in_it():
    ours = {
        config.label
        for config in newest.get_app_configs()
        if config.name.startswith("controlplane.") and (Path(config.path) / "migrations").is_dir()
    }
    assert ours == set(FIXTURE["migrations"])


def test_every_value_is_kept_by_the_newest_migrations(filled):
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    for label, values in FIXTURE["rows"].items():
        if label in FORGOTTEN:
            assert not newest.get_model(label).objects.exists()
            continue
        (row,) = newest.get_model(label).objects.all()
        for name, value in values.items():
            if (label, name) in TURNED_TO_ROWS | REMOVED:
                continue
            now = RENAMED.get(label, {}).get(name, name)
            expected = REWORDED.get((label, name), value)
            if is_time(type(row), now):
                expected = parse_datetime(value)
            assert getattr(row, now) == expected, (label, name)
    member, key = (
        newest.get_model(f"tenants.{name}").objects.get() for name in ("membership", "apikey")
    )
    assert scope_of(member.role, member.grants) == scope_of("owner", [])
    assert key_scope(key) == scope_of("viewer", [])
    assert key_scope(key).sees_all
    locks = newest.get_model("operations.operationlock").objects
    assert set(locks.values_list("operation_id", "scope", "resource", "name", "mode")) == {
        ("operation.id ä", "operation.cluster_id ä", "cluster", "", "shared"),
        ("operation.id ä", "operation.cluster_id ä", "user", "app", "exclusive"),
    }
