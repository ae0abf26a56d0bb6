"""What an operation that failed or was cancelled has left. Of older ones nobody noted it."""

from django.db import migrations, models


def forwards(apps, schema_editor):
    ended = apps.get_model("operations", "Operation").objects.filter(
        state__in=("failed", "cancelled")
    )
    ended.update(remains=None)


class Migration(migrations.Migration):
    dependencies = [("operations", "0006_lock_of_a_rule")]

    operations = [
        migrations.AddField(
            model_name="operation",
            name="remains",
            field=models.JSONField(default=list, null=True),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
