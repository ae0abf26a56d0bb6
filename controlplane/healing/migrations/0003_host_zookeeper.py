import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("healing", "0002_host_addresses")]

    operations = [
        migrations.CreateModel(
            name="HostZooKeeperChange",
            fields=[
                ("lease_token", models.CharField(blank=True, max_length=40)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("host_id", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("by", models.CharField(max_length=200)),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("moved", models.PositiveIntegerField(default=0)),
                ("operation_id", models.CharField(blank=True, default="", max_length=40)),
                ("operation_about", models.CharField(blank=True, default="", max_length=200)),
                ("waiting_for", models.CharField(blank=True, default="", max_length=1000)),
                ("tried_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("connect", models.CharField(max_length=1000)),
            ],
            options={"abstract": False},
        ),
    ]
