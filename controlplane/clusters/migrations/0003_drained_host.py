from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0002_broker_desired_state"),
    ]

    operations = [
        migrations.CreateModel(
            name="DrainedHost",
            fields=[
                (
                    "host_id",
                    models.CharField(max_length=100, primary_key=True, serialize=False),
                ),
                ("by", models.CharField(max_length=200)),
                ("since", models.DateTimeField(auto_now_add=True)),
            ],
        ),
    ]
