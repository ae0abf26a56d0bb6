"""Locks become rows: shared and exclusive, many an operation, instead of one key.

What is under way keeps what it holds. Older versions let more go together than the table of locks
does now (a topic deleted while its partitions move); such pairs go on, and who comes later waits.
"""

import django.db.models.deletion
from django.db import migrations, models

SHARED, EXCLUSIVE = "shared", "exclusive"
ENDED = ("succeeded", "failed", "cancelled", "reverted")
RESOURCES = ("cluster-name", "cluster", "placement", "topic", "topic-config", "group", "user")


def _locks(operation):
    """(scope, resource, name, mode) of each lock that its kind takes, as of this migration."""
    kind, plan, cluster = operation.kind, operation.plan, operation.cluster_id
    verb = kind.partition(".")[0]
    topics = {row["topic"] for row in plan.diff.get("partitions", []) if isinstance(row, dict)}
    if kind in {"cluster.create", "cluster.register"}:
        yield operation.tenant_id, "cluster-name", plan.inputs["name"], EXCLUSIVE
    if cluster is None:
        return
    yield cluster, "cluster", "", EXCLUSIVE if verb == "cluster" else SHARED
    if verb == "topic":
        is_update = kind == "topic.update"
        yield cluster, "topic", plan.inputs["name"], SHARED if is_update else EXCLUSIVE
        if is_update:
            yield cluster, "topic-config", plan.inputs["name"], EXCLUSIVE
    elif verb == "reassignment":
        yield cluster, "placement", "", EXCLUSIVE
    elif verb in {"group", "offset"}:
        yield cluster, "group", plan.inputs["group"], EXCLUSIVE
    elif verb == "user":
        yield cluster, "user", plan.inputs["username"], EXCLUSIVE
    elif verb == "acl":
        principals = {row["principal"] for row in plan.inputs["bindings"]}
        for principal in sorted(principals):
            yield cluster, "user", principal.removeprefix("User:"), SHARED
    if verb in {"reassignment", "offset"}:
        for topic in sorted(topics):
            yield cluster, "topic", topic, SHARED


def forwards(apps, schema_editor):
    Operation = apps.get_model("operations", "Operation")
    OperationLock = apps.get_model("operations", "OperationLock")
    for row in Operation.objects.exclude(state__in=ENDED).select_related("plan").iterator():
        OperationLock.objects.bulk_create(
            OperationLock(operation=row, scope=scope, resource=resource, name=name, mode=mode)
            for scope, resource, name, mode in _locks(row)
        )


def _key(operation):
    kind, plan = operation.kind, operation.plan
    verb = kind.partition(".")[0]
    if verb == "acl":
        return None
    if kind in {"cluster.create", "cluster.register"}:
        return f"{operation.tenant_id}:{operation.resource}"
    if kind == "cluster.delete":
        return f"{operation.cluster_id}:cluster"
    if verb in {"group", "offset"}:
        return f"{operation.cluster_id}:group/{plan.inputs['group']}"
    what = "reassignment" if verb == "reassignment" else operation.resource
    return f"{operation.cluster_id}:{what}"


def backwards(apps, schema_editor):
    Operation = apps.get_model("operations", "Operation")
    for row in Operation.objects.exclude(state__in=ENDED).select_related("plan").iterator():
        row.lock_key = _key(row)
        row.save(update_fields=["lock_key"])


class Migration(migrations.Migration):
    dependencies = [("operations", "0004_users_and_acls")]

    operations = [
        migrations.CreateModel(
            name="OperationLock",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scope", models.CharField(max_length=40)),
                (
                    "resource",
                    models.CharField(choices=[(each, each) for each in RESOURCES], max_length=20),
                ),
                ("name", models.CharField(blank=True, max_length=300)),
                (
                    "mode",
                    models.CharField(
                        choices=[(SHARED, SHARED), (EXCLUSIVE, EXCLUSIVE)], max_length=10
                    ),
                ),
                (
                    "operation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="locks",
                        to="operations.operation",
                    ),
                ),
            ],
            options={
                "ordering": ["resource", "name"],
                "indexes": [models.Index(fields=["scope"], name="operation_lock_scope")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("operation", "scope", "resource", "name"),
                        name="one_lock_per_operation",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(mode=EXCLUSIVE),
                        fields=("scope", "resource", "name"),
                        name="one_exclusive_holder",
                    ),
                ],
            },
        ),
        migrations.RunPython(forwards, backwards),
        migrations.RemoveField(model_name="operation", name="lock_key"),
    ]
