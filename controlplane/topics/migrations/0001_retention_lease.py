"""A retention that is raised for a set time, and what it is put back to."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("clusters", "0001_initial"),
        ("operations", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RetentionLease",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("topic", models.CharField(max_length=249)),
                ("topic_id", models.CharField(blank=True, max_length=40)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "active"),
                            ("restoring", "restoring"),
                            ("restored", "restored"),
                            ("superseded", "superseded"),
                            ("failed", "failed"),
                        ],
                        default="active",
                        max_length=20,
                    ),
                ),
                ("own_before", models.CharField(max_length=40, null=True)),
                ("before_ms", models.BigIntegerField(null=True)),
                ("held_ms", models.BigIntegerField()),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("ends_at", models.DateTimeField()),
                ("next_try_at", models.DateTimeField()),
                ("tries", models.PositiveIntegerField(default=0)),
                ("problem", models.TextField(blank=True)),
                ("how_ended", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="clusters.cluster"
                    ),
                ),
                (
                    "operation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lease",
                        to="operations.operation",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "active")),
                        fields=["next_try_at"],
                        name="retention_lease_due",
                    ),
                    models.Index(fields=["cluster", "-id"], name="retention_lease_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("active", "restoring"))),
                        fields=("cluster", "topic"),
                        name="one_open_lease_per_topic",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ("active", "restoring", "restored", "superseded", "failed"),
                            )
                        ),
                        name="lease_state_known",
                    ),
                ],
            },
        ),
    ]
