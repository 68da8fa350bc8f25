"""Bring a backup back into an empty database, and prove that it is whole (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backoffice import backups


class Command(BaseCommand):
    help = "Brings a backup back into an empty database: migrates it, begins a new epoch, and reconciles."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        if not (folder / backups.DUMP).exists():
            raise CommandError(f"{folder} is no backup: it has no {backups.DUMP}.")
        if not backups.is_empty():
            raise CommandError("The database is not empty: name a new one in DATABASE_URL.")
        try:
            backups.bring_back(folder)
        except (OSError, CalledProcessError) as error:
            raise CommandError(f"Not restored: {error}") from error
        call_command("migrate", interactive=False, verbosity=0)
        call_command("new_epoch", reason=f"restored from {folder}", stdout=self.stdout)
        call_command("reconcile", stdout=self.stdout)
