"""`manage.py new_epoch`: begin an epoch after a restore that the service cannot notice (docs/running.md)."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from events import epochs


class Command(BaseCommand):
    help = "Begin a new epoch after a restore. Otherwise ids that clients stored earlier could hide new rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--reason", default="manage.py new_epoch", help="the reason, stored with the epoch"
        )

    def handle(self, *args: object, reason: str, **options: object) -> None:
        try:
            name = epochs.begin(reason[:200])
        except DatabaseError as error:
            raise CommandError(f"No new epoch could begin: {error}") from error
        self.stdout.write(
            f"Epoch {name} has begun. Event numbers, stamps and ids jumped ahead of all earlier ones."
        )
