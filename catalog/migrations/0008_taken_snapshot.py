"""The model of a snapshot gets its name; the table keeps the one it has."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("catalog", "0007_find_delisted")]

    operations: ClassVar = [
        migrations.AlterModelTable("Pulse", "catalog_pulse"),
        migrations.RenameModel("Pulse", "TakenSnapshot"),
    ]
