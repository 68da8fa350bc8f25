"""`manage.py demo_data`: create the demo's cast, and with --write-demo-json its keys."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tools.demo import cast, credentials, sample_orders


class Command(BaseCommand):
    help = "Create the demo's suppliers, retailers, stock and operator; what exists is left as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--write-demo-json",
            action="store_true",
            help="write DATA_DIR/demo.json: what a client needs; the keys of an older one are kept",
        )
        parser.add_argument(
            "--with-orders",
            action="store_true",
            help="make orders in all kinds of states, to look at in the admin",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        cast.create()
        if options["with_orders"]:
            sample_orders.make_orders()
        if options["write_demo_json"]:
            credentials.write()
            self.stdout.write(f"The demo's addresses and keys are in {credentials.path()}")
