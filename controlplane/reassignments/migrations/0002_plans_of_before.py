"""Stored plans get the fields that plans have now: what was not reckoned then is null."""

from django.db import migrations

UNKNOWN = ("before_leaders", "after_leaders", "before_rack_violations", "after_rack_violations")


def forwards(apps, schema_editor):
    Plan = apps.get_model("operations", "Plan")
    for row in Plan.objects.filter(kind="reassignment").iterator():
        row.diff = {"balance": None, "limits": []} | row.diff
        for load in row.diff.get("brokers", []):
            for name in UNKNOWN:
                load.setdefault(name, None)
        row.save(update_fields=["diff"])


def backwards(apps, schema_editor):
    Plan = apps.get_model("operations", "Plan")
    for row in Plan.objects.filter(kind="reassignment").iterator():
        row.diff = {k: v for k, v in row.diff.items() if k not in ("balance", "limits")}
        for load in row.diff.get("brokers", []):
            for name in UNKNOWN:
                load.pop(name, None)
        row.save(update_fields=["diff"])


class Migration(migrations.Migration):
    dependencies = [
        ("reassignments", "0001_initial"),
        ("operations", "0005_locks"),
    ]

    operations = [migrations.RunPython(forwards, backwards)]
