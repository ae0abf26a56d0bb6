"""Roles by pattern. Who is a member with a role, or a key with a scope, keeps it over everything."""

from django.db import migrations, models

ROLES = [
    ("owner", "Owner"),
    ("operator", "Operator"),
    ("viewer", "Viewer"),
    ("limited", "By grants only"),
]
SCOPES = [("read", "Read"), ("write", "Read and write"), ("limited", "By grants only")]


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_oidc_identity")]

    operations = [
        migrations.AddField("apikey", "grants", models.JSONField(default=list)),
        migrations.AddField("apikey", "maker_id", models.BigIntegerField(null=True)),
        migrations.AddField("membership", "grants", models.JSONField(default=list)),
        migrations.AlterField(
            "apikey",
            "scope",
            models.CharField(choices=SCOPES, default="read", max_length=10),
        ),
        migrations.AlterField("membership", "role", models.CharField(choices=ROLES, max_length=20)),
    ]
