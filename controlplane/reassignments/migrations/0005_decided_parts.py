from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reassignments", "0004_scheduled_rebalances")]

    operations = [
        migrations.AddField("rebalanceschedule", "decided_parts", models.JSONField(default=list)),
        migrations.AddField("scheduledrebalance", "reason_parts", models.JSONField(default=list)),
    ]
