from django.db import migrations, models

MODELS = ("hostdrain", "hostaddresschange", "hostzookeeperchange")


class Migration(migrations.Migration):
    dependencies = [("healing", "0003_host_zookeeper")]

    operations = [
        migrations.AddField(
            model_name=name, name="waiting_for_parts", field=models.JSONField(default=list)
        )
        for name in MODELS
    ]
