from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0009_scaling"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="version",
            field=models.CharField(default="agent", max_length=63),
        ),
        migrations.AddField(
            model_name="cluster",
            name="protocol_version",
            field=models.CharField(blank=True, default="", max_length=20),
        ),
        migrations.AddField(
            model_name="broker",
            name="version",
            field=models.CharField(blank=True, default="", max_length=63),
        ),
    ]
