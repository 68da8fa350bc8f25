"""`manage.py demo` (`make demo`): process one order through the running service, and show each step."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tools.demo import credentials
from tools.demo.client import DemoError
from tools.demo.walkthrough import play


class Command(BaseCommand):
    help = "Play one order through the public interface of the running service, and show each step."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            demo = credentials.load()
        except (OSError, ValueError) as error:
            raise CommandError(
                f"{credentials.path()} cannot be read ({error}). Start the service first: make run"
            ) from error
        try:
            play(demo, self._write, colour=self.style.SUCCESS("x") != "x")
        except DemoError as error:
            raise CommandError(str(error)) from error

    def _write(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
