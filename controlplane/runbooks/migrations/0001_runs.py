"""Runs of runbooks, and what was looked at and planned in them."""

import controlplane.runbooks.models
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunbookRun",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=controlplane.runbooks.models.new_runbook_run_id,
                        max_length=40,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("runbook", models.CharField(max_length=100)),
                ("cluster_id", models.CharField(max_length=40, null=True)),
                ("context", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("resolved", "resolved"),
                            ("unresolved", "unresolved"),
                            ("escalated", "escalated"),
                            ("abandoned", "abandoned"),
                        ],
                        default="open",
                        max_length=20,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_by", models.CharField(blank=True, max_length=200)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunbookEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=60)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("ok", "ok"),
                            ("bad", "bad"),
                            ("unknown", "unknown"),
                            ("planned", "planned"),
                        ],
                        max_length=20,
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("numbers", models.JSONField(default=dict)),
                ("as_of", models.DateTimeField(null=True)),
                ("took_ms", models.PositiveIntegerField(default=0)),
                ("plan_id", models.CharField(max_length=40, null=True)),
                ("actor", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="runbooks.runbookrun",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.AddIndex(
            model_name="runbookrun",
            index=models.Index(fields=["tenant", "-id"], name="runbook_run_newest"),
        ),
        migrations.AddIndex(
            model_name="runbookrun",
            index=models.Index(fields=["created_at"], name="runbook_run_age"),
        ),
        migrations.AddConstraint(
            model_name="runbookrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ("open", "resolved", "unresolved", "escalated", "abandoned"))
                ),
                name="runbook_run_state_known",
            ),
        ),
    ]
