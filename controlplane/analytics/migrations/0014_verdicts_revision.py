from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0013_partition_rollup"),
    ]

    operations = [
        migrations.AddField(
            model_name="collectorstate",
            name="verdicts_revision",
            field=models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="collectorstate",
            name="verdicts_sampled_ms",
            field=models.BigIntegerField(null=True),
        ),
    ]
