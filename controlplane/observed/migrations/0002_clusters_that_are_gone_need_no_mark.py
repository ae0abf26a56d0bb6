from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("observed", "0001_observed_tables")]

    operations = [
        migrations.RemoveField(model_name="observedcluster", name="forgotten"),
    ]
