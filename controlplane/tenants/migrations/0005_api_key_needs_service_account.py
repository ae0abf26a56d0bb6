import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0004_service_accounts_of_keys"),
    ]

    operations = [
        migrations.AlterField(
            model_name="apikey",
            name="service_account",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="keys",
                to="tenants.serviceaccount",
            ),
        ),
    ]
