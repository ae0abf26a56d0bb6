from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="goldgroupexpiry",
            name="first_loss_in_s",
            field=models.FloatField(null=True),
        ),
    ]
