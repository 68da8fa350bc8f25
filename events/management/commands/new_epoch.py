"""Begin a new epoch: after a restore that PostgreSQL itself does not show (docs/running.md)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from events import epochs


class Command(BaseCommand):
    help = "To be run after a restore: what clients have kept of before hides nothing of what is new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reason", default="manage.py new_epoch", help="what its row says about it")

    def handle(self, *args: Any, reason: str, **options: Any) -> None:
        try:
            name = epochs.begin(reason[:200])
        except DatabaseError as error:
            raise CommandError(f"No new epoch: {error}") from error
        self.stdout.write(f"Epoch {name} has begun: event numbers, stamps and ids are ahead of all before.")
