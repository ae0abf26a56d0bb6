"""Where a tenant wants to be told, and each telling."""

import controlplane.notifications.models
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
            name="Destination",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=controlplane.notifications.models.new_destination_id,
                        max_length=40,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("webhook", "webhook"),
                            ("email", "email"),
                            ("slack", "slack"),
                            ("pagerduty", "pagerduty"),
                            ("alertmanager", "alertmanager"),
                        ],
                        max_length=20,
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "min_severity",
                    models.CharField(
                        choices=[
                            ("info", "info"),
                            ("warning", "warning"),
                            ("critical", "critical"),
                        ],
                        default="warning",
                        max_length=10,
                    ),
                ),
                ("rules", models.JSONField(default=list)),
                ("clusters", models.JSONField(default=list)),
                ("send_resolved", models.BooleanField(default=True)),
                ("config", models.JSONField(default=dict)),
                ("secrets_token", models.TextField(blank=True)),
                ("rotation_ends_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_sent_at", models.DateTimeField(null=True)),
                ("last_failed_at", models.DateTimeField(null=True)),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="destinations",
                        to="tenants.tenant",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("lease_token", models.CharField(blank=True, max_length=40)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                (
                    "id",
                    models.CharField(
                        default=controlplane.notifications.models.new_delivery_id,
                        max_length=40,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("alert_id", models.CharField(max_length=60)),
                ("event_id", models.CharField(max_length=60)),
                (
                    "event_state",
                    models.CharField(
                        choices=[
                            ("firing", "firing"),
                            ("acknowledged", "acknowledged"),
                            ("resolved", "resolved"),
                        ],
                        max_length=20,
                    ),
                ),
                ("rule", models.CharField(max_length=100)),
                (
                    "severity",
                    models.CharField(
                        choices=[
                            ("info", "info"),
                            ("warning", "warning"),
                            ("critical", "critical"),
                        ],
                        max_length=10,
                    ),
                ),
                ("event", models.JSONField()),
                ("ordinal", models.PositiveIntegerField(default=1)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("retrying", "retrying"),
                            ("sent", "sent"),
                            ("dead", "dead"),
                        ],
                        default="pending",
                        max_length=20,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("tries", models.PositiveIntegerField(default=0)),
                ("queued_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("tried_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=60)),
                ("error_text", models.CharField(blank=True, max_length=300)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="tenants.tenant",
                    ),
                ),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="notifications.destination",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="destination",
            constraint=models.UniqueConstraint(
                fields=("tenant", "name"), name="destination_name_once"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("state__in", ("pending", "retrying"))),
                fields=["next_try_at"],
                name="delivery_due",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                fields=["destination", "alert_id", "ordinal"], name="delivery_order"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["tenant", "state"], name="delivery_of_tenant"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["ended_at"], name="delivery_ended"),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                fields=("destination", "event_id"), name="event_once_a_destination"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("pending", "retrying", "sent", "dead"))),
                name="delivery_state_known",
            ),
        ),
    ]
