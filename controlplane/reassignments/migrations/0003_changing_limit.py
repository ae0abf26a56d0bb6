"""The limit of an operation stands in its lease, so that it can change while partitions move."""

from django.db import migrations, models


def forwards(apps, schema_editor):
    """A lease of before has what its plan asked for."""
    ThrottleLease = apps.get_model("reassignments", "ThrottleLease")
    Operation = apps.get_model("operations", "Operation")
    for lease in ThrottleLease.objects.all().iterator():
        operation = Operation.objects.select_related("plan").filter(pk=lease.operation_id).first()
        if operation is not None:
            lease.bytes_per_s = operation.plan.inputs.get("throttle_bytes_per_s")
            lease.save(update_fields=["bytes_per_s"])


class Migration(migrations.Migration):
    dependencies = [
        ("reassignments", "0002_plans_of_before"),
        ("operations", "0005_locks"),
    ]

    operations = [
        migrations.AddField(
            model_name="throttlelease",
            name="bytes_per_s",
            field=models.BigIntegerField(null=True),
        ),
        migrations.RunPython(forwards, migrations.RunPython.noop),
    ]
