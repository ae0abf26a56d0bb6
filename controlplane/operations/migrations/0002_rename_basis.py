from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("operations", "0001_initial")]

    operations = [migrations.RenameField("plan", "basis", "preconditions")]
