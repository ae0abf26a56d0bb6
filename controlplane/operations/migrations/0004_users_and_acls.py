"""The words that rows keep of Kafka users and ACLs: a step, a warning, a refusal."""

from django.db import migrations

KINDS = ("user.create", "user.delete")
STEP = {"grants": "acls"}
WARNING = {"no-grants": "no-acls"}
REFUSAL = {"service-login": "service-user"}


def _reword(apps, step, warning, refusal):
    Step = apps.get_model("operations", "Step")
    for old, new in step.items():
        Step.objects.filter(operation__kind__in=KINDS, name=old).update(name=new)
    Operation = apps.get_model("operations", "Operation")
    for row in Operation.objects.filter(kind__startswith="user.", error__isnull=False).iterator():
        words = {"step": step, "rollback_incomplete": step, "code": refusal}
        row.error = {
            key: words.get(key, {}).get(value, value) if isinstance(value, str) else value
            for key, value in row.error.items()
        }
        row.save(update_fields=["error"])
    Plan = apps.get_model("operations", "Plan")
    for row in Plan.objects.filter(kind="user.create").iterator():
        for said in row.impact.get("warnings", []):
            said["code"] = warning.get(said["code"], said["code"])
        row.save(update_fields=["impact"])


def _back(words):
    return {new: old for old, new in words.items()}


def forwards(apps, schema_editor):
    _reword(apps, STEP, WARNING, REFUSAL)


def backwards(apps, schema_editor):
    _reword(apps, _back(STEP), _back(WARNING), _back(REFUSAL))


class Migration(migrations.Migration):
    dependencies = [("operations", "0003_rename_unwinding")]

    operations = [migrations.RunPython(forwards, backwards)]
