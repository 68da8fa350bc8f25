"""Write a backup: database, files and keys (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backoffice import backups


class Command(BaseCommand):
    help = "Writes a backup into a new folder, which only its owner can read: it has the keys in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument(
            "--without-files", action="store_true", help="for uploads that are backed up in another way"
        )

    def handle(self, *args: Any, folder: Path, without_files: bool, **options: Any) -> None:
        if folder.exists():
            raise CommandError(f"{folder} is there already.")
        try:
            backups.make(folder, with_files=not without_files)
        except (OSError, CalledProcessError) as error:
            raise CommandError(f"No backup: {error}") from error
        self.stdout.write(f"The backup is in {folder}.")
        if not (folder / backups.KEYS / "secret_key").exists():
            self.stdout.write("SECRET_KEY is in the environment and not in the backup: keep it, too.")
