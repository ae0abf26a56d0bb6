import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import controlplane.clusters.models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0007_owed_deletion"),
    ]

    operations = [
        migrations.RenameModel(old_name="DrainedHost", new_name="HostState"),
        migrations.AddField(
            model_name="hoststate",
            name="state",
            field=models.CharField(default="cordoned", max_length=20),
        ),
        migrations.AddField(
            model_name="hoststate",
            name="reason",
            field=models.CharField(blank=True, default="", max_length=500),
        ),
        migrations.AlterField(
            model_name="hoststate",
            name="since",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.CreateModel(
            name="JoinToken",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=controlplane.clusters.models.new_join_token_id,
                        max_length=40,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("host_id", models.CharField(max_length=100)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("ensemble", models.CharField(max_length=64)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("created_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("used_from", models.CharField(blank=True, default="", max_length=64)),
                ("revoked_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="LostBroker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("broker_id", models.PositiveIntegerField()),
                ("host_id", models.CharField(max_length=100)),
                ("address", models.CharField(max_length=100)),
                ("rack", models.CharField(blank=True, max_length=100)),
                ("client_port", models.PositiveIntegerField()),
                ("directory_ids", models.JSONField(default=list)),
                ("declared_at", models.DateTimeField(auto_now_add=True)),
                ("declared_by", models.CharField(max_length=200)),
                ("fenced_at", models.DateTimeField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lost_brokers",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "ordering": ["broker_id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "broker_id"), name="lost_broker_once"
                    )
                ],
            },
        ),
    ]
