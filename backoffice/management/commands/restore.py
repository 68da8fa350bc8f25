"""`manage.py restore`: restore a backup into an empty database and verify it (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from backoffice import backups


class Command(BaseCommand):
    help = "Restore a backup into an empty database, migrate it, begin a new epoch and reconcile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: object, folder: Path, **options: object) -> None:
        if not (folder / backups.DUMP).exists():
            raise CommandError(
                f"{folder} is no backup: it has no {backups.DUMP}. Name the folder that `backup` wrote."
            )
        if not backups.is_empty():
            raise CommandError("The database is not empty. Name a new one in DATABASE_URL.")
        try:
            backups.restore(folder)
        except (OSError, CalledProcessError) as error:
            raise CommandError(f"The restore failed: {error}") from error
        call_command("migrate", interactive=False, verbosity=0)
        call_command("new_epoch", reason=f"restored from {folder}", stdout=self.stdout)
        call_command("reconcile", stdout=self.stdout)
