from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0008_hosts")]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="highest_broker_id",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
