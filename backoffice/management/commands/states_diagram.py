"""Write the diagram of the states into the README."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from backoffice.states_picture import replaced


class Command(BaseCommand):
    help = "Write the diagram of a fulfillment's states into the README, from the table of states."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        readme = settings.BASE_DIR / "README.md"
        readme.write_text(replaced(readme.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {readme}")
