"""`manage.py reconcile`: recompute every counter from its sources, and report or repair the differences."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from orders.reconciling.reconciling import differences, mend


class Command(BaseCommand):
    help = "Compare every counter with its sources. The exit code is 1 if any differs and is not repaired."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fix", action="store_true", help="Repair the counters that differ; writers wait meanwhile."
        )

    def handle(self, *args: object, fix: bool, **options: object) -> None:
        found = list(differences())
        for each in found:
            self.stdout.write(str(each))
        if not found:
            self.stdout.write("Every counter agrees with its sources.")
            return
        if not fix:
            raise CommandError(f"{len(found)} counters differ. --fix repairs them.")
        try:
            mend()
        except IntegrityError as error:
            message = f"Nothing was repaired, because the sources contradict each other or the order: {error}"
            raise CommandError(message) from error
        left = list(differences())
        for each in left:
            self.stdout.write(f"not repaired: {each}")
        if left:
            raise CommandError(f"{len(left)} of {len(found)} differences could not be repaired.")
        self.stdout.write(f"{len(found)} counters were repaired.")
