from django.db import migrations, models

import controlplane.clusters.models


class Migration(migrations.Migration):
    """Brokers that there are were given the connect string that this service has now."""

    dependencies = [("clusters", "0011_log_directories")]

    operations = [
        migrations.AddField(
            "broker",
            "zookeeper",
            models.CharField(
                default=controlplane.clusters.models.own_connect_string, max_length=1000
            ),
        ),
        migrations.CreateModel(
            name="Ensemble",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("identity", models.CharField(max_length=100)),
                ("found_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
    ]
