"""`manage.py keep_backups`: make backups on a schedule until SIGTERM (docs/running.md)."""

from __future__ import annotations

import signal
import sys
import threading
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.core.management.base import BaseCommand

from api import signs_of_life
from api.signs_of_life import Age
from backoffice.backup_schedule import BackupSchedule

AGE = "seconds since the last backup"
"""The name under which the signs of life of this process report the age of the newest backup."""
LONGEST_PAUSE = timedelta(minutes=1)
"""The longest sleep before the clock is read again, because someone may change the machine's clock."""


def facts_of(schedule: BackupSchedule) -> dict[str, float]:
    """Return the facts for the signs of life. Raises OSError if the backups cannot be listed."""
    return {AGE: Age(schedule.age().total_seconds())}


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # this process serves no URLs
    help = "Make a backup in BACKUPS_DIR every BACKUP_HOURS, and keep the newest BACKUPS_KEPT."

    def handle(self, *args: object, **options: object) -> None:
        every = timedelta(hours=settings.BACKUP_HOURS)
        schedule = BackupSchedule(settings.BACKUPS_DIR, every, settings.BACKUPS_KEPT)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit())  # this also ends a running pg_dump
        signs_of_life.keep_giving("backup", partial(facts_of, schedule))
        pause = threading.Event()
        while True:
            if not schedule.due_in():
                schedule.make()
            pause.wait(min(schedule.due_in(), LONGEST_PAUSE).total_seconds())
