from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is built beside writers only outside a transaction

    dependencies = [("imports", "0001_release_1")]

    operations = [
        AddIndexConcurrently("importjob", models.Index("supplier", "id", name="import_by_supplier")),
        AddIndexConcurrently(
            "importjob",
            models.Index(
                "supplier",
                "id",
                condition=models.Q(status__in=["failed", "awaiting_approval"]),
                name="import_to_check",
            ),
        ),
    ]
