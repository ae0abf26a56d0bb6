from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("operations", "0008_pausing"),
    ]

    operations = [
        migrations.AddField(
            model_name="step",
            name="detail_parts",
            field=models.JSONField(default=list),
        ),
    ]
