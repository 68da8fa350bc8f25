"""An event that is forgotten asks whether a delivery has it: for each one, all deliveries were looked through."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Built while others write: the table has millions of rows.
    atomic = False

    dependencies = [("events", "0008_replays")]

    operations = [AddIndexConcurrently("delivery", models.Index("event", name="delivery_of_event"))]
