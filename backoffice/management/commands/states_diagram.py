"""`manage.py states_diagram`: write the diagram of a fulfillment's states into docs/states.md."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand

from backoffice.states_picture import replaced


class Command(BaseCommand):
    help = "Write the diagram of a fulfillment's states into docs/states.md, from the table of states."
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        page = settings.BASE_DIR / "docs/states.md"
        page.write_text(replaced(page.read_text(encoding="utf-8")), encoding="utf-8")
        self.stdout.write(f"Wrote {page}")
