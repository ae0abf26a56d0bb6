"""What a row is about and by whose credential, indexes to search by, triggers that keep it."""

from django.db import migrations, models

from controlplane.audit.protection import protect, unprotect


def forward(_apps: object, schema_editor: object) -> None:
    protect(schema_editor.connection)  # type: ignore[attr-defined] # it has one


def back(_apps: object, schema_editor: object) -> None:
    unprotect(schema_editor.connection)  # type: ignore[attr-defined] # it has one


def index(name: str, *fields: str, **more: list[str]) -> migrations.AddIndex:
    return migrations.AddIndex("auditevent", models.Index(fields=fields, name=name, **more))


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.CreateModel(
            "AuditRetention",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.AddField("auditevent", "cluster_id", models.CharField(max_length=40, null=True)),
        migrations.AddField(
            "auditevent",
            "cluster_name",
            models.CharField(blank=True, default="", max_length=100),
            False,
        ),
        migrations.AddField("auditevent", "touches", models.JSONField(default=list)),
        migrations.AddField(
            "auditevent",
            "request_id",
            models.CharField(blank=True, default="", max_length=64),
            False,
        ),
        migrations.AddField(
            "auditevent",
            "credential",
            models.CharField(blank=True, default="", max_length=60),
            False,
        ),
        index("audit_by_actor", "tenant_id", "actor", "-id"),
        index("audit_by_action", "tenant_id", "action", "-id"),
        index("audit_by_outcome", "tenant_id", "outcome", "-id"),
        index("audit_by_time", "tenant_id", "-created_at"),
        index(
            "audit_by_resource",
            "tenant_id",
            "resource",
            opclasses=["", "varchar_pattern_ops"],
        ),
        # Last: SQLite makes a table again to alter it, and its triggers go with the old one.
        migrations.RunPython(forward, back),
    ]
