"""`manage.py restore`: restore a backup into an empty database and verify it (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from backoffice import backups

OTHER_KEYS = (
    "This host has other keys than the backup: {keys}. Add --keys=replace on a new machine. For a trial, add "
    "--keys=keep: without the backup's secret key, its stored passwords and second factors cannot be read."
)


class Command(BaseCommand):
    help = "Restore a backup into an empty database, migrate it, begin a new epoch and reconcile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--keys",
            choices=("replace", "keep"),
            help="replace: use the secret key and the host keys of the backup, on a new machine. "
            "keep: keep those of this host, for a trial",
        )

    def handle(self, *args: object, folder: Path, keys: str | None, **options: object) -> None:
        try:
            _restore(folder, keys)
        except (OSError, CalledProcessError, DatabaseError) as error:
            raise CommandError(f"The restore failed: {error}") from error
        call_command("migrate", interactive=False, verbosity=0)
        call_command("new_epoch", reason=f"restored from {folder}", stdout=self.stdout)
        call_command("reconcile", stdout=self.stdout)


def _restore(folder: Path, keys: str | None) -> None:
    if not (folder / backups.DUMP).exists():
        raise CommandError(
            f"{folder} is no backup: it has no {backups.DUMP}. Name the folder that `backup` wrote."
        )
    if not backups.is_empty():
        raise CommandError("The database is not empty. Name an empty database in DATABASE_URL.")
    if keys is None and (others := backups.other_keys(folder)):
        raise CommandError(OTHER_KEYS.format(keys=", ".join(map(str, others))))
    backups.restore(folder, replace_keys=keys == "replace")
