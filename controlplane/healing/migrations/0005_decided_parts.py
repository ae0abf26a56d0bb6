from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("healing", "0004_waiting_for_parts")]

    operations = [
        migrations.AddField("healingpolicy", "decided_parts", models.JSONField(default=list)),
        migrations.AddField("healingcase", "parts", models.JSONField(default=list)),
    ]
