from django.db import migrations, models


def _token():
    return models.CharField(blank=True, default="", max_length=40)


class Migration(migrations.Migration):
    dependencies = [("analytics", "0002_first_loss")]

    operations = [
        migrations.RenameField("analyticsrun", "lease_until", "lease_expires_at"),
        migrations.RenameField("collectorstate", "lease_until", "lease_expires_at"),
        migrations.AddField("analyticsrun", "lease_token", _token(), preserve_default=False),
        migrations.AddField("collectorstate", "lease_token", _token(), preserve_default=False),
    ]
