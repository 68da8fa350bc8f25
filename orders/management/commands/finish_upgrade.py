"""`manage.py finish_upgrade`: drop the parts of the schema that only the previous version needed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

OLD_INDEXES = ("order_once",)
"""Indexes that processes of the previous version name in their statements."""


class Command(BaseCommand):
    help = "Drop what only processes of the previous version need. Run it when all of them have ended."

    def handle(self, *args: Any, **options: Any) -> None:
        with connection.cursor() as cursor:
            for name in OLD_INDEXES:
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {connection.ops.quote_name(name)}")
        self.stdout.write("The upgrade is finished. Processes of the previous version no longer work.")
