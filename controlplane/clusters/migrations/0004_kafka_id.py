from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0003_drained_host")]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="kafka_id",
            field=models.CharField(blank=True, default="", max_length=200),
        )
    ]
