"""Draw docs/states.svg from the table of states."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from backoffice.states_picture import svg


class Command(BaseCommand):
    help = "Draw docs/states.svg from the table of states."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        target = settings.BASE_DIR / "docs" / "states.svg"
        target.write_text(svg(), encoding="utf-8")
        self.stdout.write(f"Wrote {target}")
