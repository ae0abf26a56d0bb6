from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0004_uncommitted_partitions")]

    operations = [
        migrations.AddField("analyticsrun", "starts_ms", models.JSONField(default=dict)),
    ]
