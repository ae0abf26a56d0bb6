"""Two passwords of one user beside each other, and until when."""

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
            name="PasswordOverlap",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("username", models.CharField(max_length=100)),
                ("old_mechanism", models.CharField(max_length=20)),
                ("new_mechanism", models.CharField(max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[("standing", "standing"), ("held", "held"), ("ended", "ended")],
                        default="standing",
                        max_length=20,
                    ),
                ),
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
                    "rotation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="overlap",
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
                        condition=models.Q(("state", "standing")),
                        fields=["next_try_at"],
                        name="password_overlap_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("standing", "held"))),
                        fields=("cluster", "username"),
                        name="one_open_overlap_per_user",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ("standing", "held", "ended"))),
                        name="overlap_state_known",
                    ),
                ],
            },
        ),
    ]
