from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0010_throughput"),
    ]

    operations = [
        migrations.AddField(
            model_name="groupverdict",
            name="by_partition",
            field=models.JSONField(null=True),
        ),
    ]
