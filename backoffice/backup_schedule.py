"""Backups on a schedule, in one folder. Old backups are deleted."""

from __future__ import annotations

import fcntl
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CalledProcessError

from django.db import DatabaseError, connection
from django.utils import timezone

from backoffice import backups

logger = logging.getLogger(__name__)

NAME = "%Y-%m-%dT%H%M%SZ"
RETRY = timedelta(minutes=5)
LOCK = ".lock"


@dataclass
class BackupSchedule:
    """The backups in one folder. `every` is the time between two backups; the newest `kept` backups stay."""

    folder: Path
    every: timedelta
    kept: int
    _tried_at: datetime = datetime.min.replace(tzinfo=UTC)

    def complete(self) -> list[Path]:
        """Return the complete backups, oldest first.

        A backup with a time in the future was made before someone set the clock back. It counts as older
        than the others.
        """
        now = timezone.now()
        folders = {path.parent for path in self.folder.glob(f"*/{backups.ABOUT}") if _is_ours(path.parent)}
        return sorted(folders, key=lambda folder: (_begun_at(folder) <= now, folder))

    def age(self) -> timedelta:
        """Return the time since the newest backup began. Without a backup, return the time since 1970."""
        now = timezone.now()
        begun = [moment for moment in map(_begun_at, self.complete()) if moment <= now]
        return now - max(begun, default=datetime.fromtimestamp(0, UTC))

    def due_in(self) -> timedelta:
        """Return the time until the next backup. Between the starts of two tries is at least RETRY."""
        retry = min(RETRY, self._tried_at + RETRY - timezone.now())  # the clock may have been set back
        return max(timedelta(0), self.every - self.age(), retry)

    def make(self) -> bool:
        """Make a backup, then delete old backups. If the backup fails, log the error and return False.

        Make no backup while another host writes a backup into a shared folder.
        """
        self._tried_at = timezone.now()
        folder = self.folder / self._tried_at.strftime(NAME)
        try:
            with _locked(self.folder):
                self._remove_unfinished()
                backups.make(folder, with_files=True)
        except BlockingIOError:
            logger.info("Another process writes a backup into %s.", self.folder)
            return False
        except (OSError, CalledProcessError, DatabaseError) as error:
            logger.error("The backup failed: %s", error)  # noqa: TRY400 - the message says everything
            return False
        finally:
            connection.close()  # the process needs no connection until the next backup
        logger.info("The backup is in %s.", folder)
        for old in self.complete()[: -self.kept]:
            _delete(old)
        return True

    def _remove_unfinished(self) -> None:
        """Remove the unfinished backups of killed processes."""
        for half in self.folder.glob("*.half"):
            if _is_ours(half.with_suffix("")):
                _delete(half)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder, also against other hosts. Raises BlockingIOError if another process has locked it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _delete(folder: Path) -> None:
    """Delete a backup. Only log an error, because a folder that stays does not make the new backup worse."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        logger.error("%s could not be deleted: %s", folder, error)  # noqa: TRY400 - the message says everything


def _is_ours(folder: Path) -> bool:
    try:
        _begun_at(folder)
    except ValueError:
        return False  # a person created this folder, so it must not be deleted
    return True


def _begun_at(folder: Path) -> datetime:
    return datetime.strptime(folder.name, NAME).replace(tzinfo=UTC)
