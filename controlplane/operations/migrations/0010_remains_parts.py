from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("operations", "0009_detail_parts"),
    ]

    operations = [
        migrations.AddField(
            model_name="operation",
            name="remains_parts",
            field=models.JSONField(default=list),
        ),
    ]
