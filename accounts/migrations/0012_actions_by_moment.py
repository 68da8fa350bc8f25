"""Who did what, newest first: all that was ever done was sorted for each page of it."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Built while others write.
    atomic = False

    dependencies = [("accounts", "0011_actions_done_once")]

    operations = [
        AddIndexConcurrently(
            "operatoraction",
            models.Index(
                "created_at",
                "id",
                condition=Q(confirmed_at__isnull=False),
                name="operator_action_newest",
            ),
        )
    ]
