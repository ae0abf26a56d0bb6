"""Keys belong to a caller, and answers are sealed.

Rows of before do not say whose they are, and hold their answers in clear: they are dropped. A key
lives a day, and the plans and operations that those were about refuse to be started twice.
"""

from django.db import migrations, models


def forget(apps, schema_editor):
    apps.get_model("common", "IdempotencyKey").objects.using(
        schema_editor.connection.alias
    ).all().delete()


class Migration(migrations.Migration):
    dependencies = [("common", "0001_initial")]

    operations = [
        migrations.RunPython(forget, forget),
        migrations.RemoveConstraint(model_name="idempotencykey", name="idempotency_once"),
        migrations.RemoveField(model_name="idempotencykey", name="response"),
        migrations.AddField(
            model_name="idempotencykey",
            name="principal",
            field=models.CharField(max_length=60, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="answer",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="answer_ends_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="lease_token",
            field=models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="lease_expires_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(
                fields=("tenant_id", "principal", "key"), name="idempotency_once"
            ),
        ),
    ]
