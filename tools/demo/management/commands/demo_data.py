"""`manage.py demo_data`: create the demo's parties, and with --write-demo-json their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tools.demo import cast, credentials, market, sample_orders


class Command(BaseCommand):
    help = "Create the demo's suppliers, retailers, stock and operator. Existing records stay unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--write-demo-json",
            nargs="?",
            type=Path,
            const=credentials.path(),
            help="write demo.json with URLs and keys for clients; valid keys of the old file stay",
        )
        parser.add_argument(
            "--with-orders",
            action="store_true",
            help="create orders in many states for the admin",
        )
        parser.add_argument(
            "--with-market",
            action="store_true",
            help="create a market with the orders of sixty days, so that the pages show much data",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        cast.create()
        if options["with_orders"]:
            sample_orders.make_orders()
        if options["with_market"]:
            market.create()
        if options["write_demo_json"]:
            credentials.write(options["write_demo_json"])
