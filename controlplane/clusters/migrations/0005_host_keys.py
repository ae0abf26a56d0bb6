from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0004_kafka_id"),
    ]

    operations = [
        migrations.CreateModel(
            name="HostKey",
            fields=[
                (
                    "host_id",
                    models.CharField(max_length=100, primary_key=True, serialize=False),
                ),
                ("sealed_keys", models.TextField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
        ),
    ]
