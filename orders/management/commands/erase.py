"""`manage.py erase`: erase a consumer's personal data from finished orders."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actors import Actor
from orders.erasing import ERASES, erase_all, orders_of
from orders.erasing_copies import search
from orders.models import Order

SECONDS = 60.0
"""The time limit of the search for copies. A periodic task continues the search."""


class Command(BaseCommand):
    help = (
        "Erase the personal data of closed orders: of one order, or of all orders with an e-mail address."
        f" It erases {ERASES}. Countries, quantities, prices and numbers stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--order", type=int, action="append", default=[], help="the id of an order")
        parser.add_argument("--email", action="append", default=[], help="a consumer's e-mail address")
        parser.add_argument("--reason", required=True, help="stored in the history, where operators read it")

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["order"] or options["email"]):
            raise CommandError("Name the orders to erase with --order, or their consumer with --email.")
        found = {order.pk: order for order in Order.objects.filter(pk__in=options["order"])}
        if missing := set(options["order"]) - set(found):
            raise CommandError(f"There is no order {min(missing)}.")
        for email in options["email"]:
            found |= {order.pk: order for order in orders_of(email)}
        done, left = erase_all(found.values(), by=Actor.system("erase"), reason=options["reason"])
        self.stdout.write(f"{done} of {len(found)} orders were erased.")
        if not search.erase_copies(SECONDS):
            self.stdout.write(
                "The search for copies in files and other tables is not finished. The service continues it."
            )
        for each in left:
            self.stderr.write(f"Not erased: {each}")
        if left:
            raise CommandError(f"{len(left)} orders were not erased. Erase them when they are closed.")
