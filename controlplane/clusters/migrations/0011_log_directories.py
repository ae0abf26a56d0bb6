from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0010_software_version")]

    operations = [
        migrations.AddField("broker", "log_dirs", models.JSONField(blank=True, default=list)),
        migrations.AddField("broker", "given_up_dirs", models.JSONField(blank=True, default=list)),
    ]
