"""Operations on ACLs lock each rule. Those that are under way hold what they have taken."""

from django.db import migrations, models

RESOURCES = (
    "cluster-name",
    "cluster",
    "placement",
    "topic",
    "topic-config",
    "group",
    "user",
    "acl",
)


class Migration(migrations.Migration):
    dependencies = [("operations", "0005_locks")]

    operations = [
        migrations.AlterField(
            model_name="operationlock",
            name="resource",
            field=models.CharField(choices=[(name, name) for name in RESOURCES], max_length=20),
        ),
    ]
