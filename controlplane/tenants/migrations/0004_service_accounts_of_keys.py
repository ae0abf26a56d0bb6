"""Every key gets the service account that is called like it: keys of one name share one."""

from typing import Any

from django.db import migrations


def give_accounts(apps: Any, schema_editor: Any) -> None:
    del schema_editor
    keys = apps.get_model("tenants", "ApiKey")
    accounts = apps.get_model("tenants", "ServiceAccount")
    for key in keys.objects.filter(service_account=None).order_by("pk").iterator():
        account, _ = accounts.objects.get_or_create(
            tenant_id=key.tenant_id, name=key.name, defaults={"created_by": key.created_by}
        )
        keys.objects.filter(pk=key.pk).update(service_account=account)


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0003_administration"),
    ]

    operations = [
        migrations.RunPython(give_accounts, migrations.RunPython.noop),
    ]
