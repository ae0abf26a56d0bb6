from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0005_host_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="broker",
            name="tls_token",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="broker",
            name="certificate_ends_at",
            field=models.DateTimeField(null=True),
        ),
    ]
