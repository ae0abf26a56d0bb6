from django.db import migrations

OLD, NEW = "unwind_incomplete", "rollback_incomplete"


def _rename_key(apps, old, new):
    Operation = apps.get_model("operations", "Operation")
    for row in Operation.objects.filter(error__has_key=old).iterator():
        row.error = {new if key == old else key: value for key, value in row.error.items()}
        row.save(update_fields=["error"])


def forwards(apps, schema_editor):
    _rename_key(apps, OLD, NEW)


def backwards(apps, schema_editor):
    _rename_key(apps, NEW, OLD)


class Migration(migrations.Migration):
    dependencies = [("operations", "0002_rename_basis")]

    operations = [
        migrations.RenameField("operation", "unwinding", "rolling_back"),
        migrations.RunPython(forwards, backwards),
    ]
