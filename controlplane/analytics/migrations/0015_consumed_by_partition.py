"""Blocks and layouts of what groups read of each partition."""

from django.db import migrations, models

KIND = models.CharField(
    choices=[
        ("outline", "outline"),
        ("topics", "topics"),
        ("groups", "groups"),
        ("partitions", "partitions"),
        ("consumed", "consumed"),
    ],
    max_length=12,
)


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0014_verdicts_revision"),
    ]

    operations = [
        migrations.AlterField(model_name="throughputblock", name="kind", field=KIND),
        migrations.AlterField(model_name="throughputlayout", name="kind", field=KIND.clone()),
    ]
