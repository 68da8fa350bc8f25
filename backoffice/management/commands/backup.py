"""`manage.py backup`: write a backup of the database, the files and the keys (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from backoffice import backups


class Command(BaseCommand):
    help = (
        "Write a backup into a new folder. Only its owner can read the folder, because it contains the keys."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--without-files",
            action="store_true",
            help="leave out uploaded files, which are backed up in another way",
        )

    def handle(self, *args: object, folder: Path, without_files: bool, **options: object) -> None:
        try:
            if folder.exists():
                raise CommandError(f"{folder} already exists. Name a new folder.")
            backups.make(folder, with_files=not without_files)
        except (OSError, CalledProcessError, DatabaseError) as error:
            raise CommandError(f"The backup failed: {error}") from error
        self.stdout.write(f"The backup is in {folder}.")
        if not (folder / backups.KEYS / "secret_key").exists():
            self.stdout.write(
                "SECRET_KEY comes from the environment and is not in the backup. Store it separately."
            )
        if settings.UPLOADS_URL and not without_files:
            self.stdout.write("The bucket of UPLOADS_URL is not in the backup. Copy it in another way.")
