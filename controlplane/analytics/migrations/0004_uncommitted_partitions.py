from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0003_leases_with_a_token")]

    operations = [
        migrations.AddField(
            "goldgrouplag", "uncommitted_partitions", models.IntegerField(null=True)
        ),
        migrations.AddField(
            "goldgrouplag", "uncommitted_records", models.BigIntegerField(null=True)
        ),
        migrations.AddField(
            "goldgrouplag", "reasons", models.CharField(blank=True, default="", max_length=22)
        ),
    ]
