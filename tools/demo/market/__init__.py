"""The demo's market: six suppliers and two retailers with sixty days of trade, and today's open work."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from accounts.models import Partnership, Retailer, Supplier
from catalog.models import Variant
from events.models import Event
from fulfillments.scorecard.sums import add_up
from inventory.models import Warehouse
from sftp_ingest.models import SftpLogin
from tools.demo.market import cast, files, today
from tools.demo.market.history import History
from tools.demo.market.plans import plan

P = TypeVar("P", Supplier, Retailer)

WHOLESALE = Decimal("0.55")
SUMMING_SECONDS = 5.0


def create() -> None:
    """Create the market. An existing market stays unchanged."""
    if Retailer.objects.filter(name=cast.RETAILERS[0][0]).exists():
        return
    now = timezone.now()
    with transaction.atomic():
        _parties()
        History(list(plan(now)), now).write()
    today.create()
    files.create()
    Event.publish()
    add_up(seconds=SUMMING_SECONDS)


def suppliers() -> list[Supplier]:
    """Return the market's suppliers in the order of the cast, or an empty list without a market."""
    return _named(Supplier, [supplier.name for supplier in cast.SUPPLIERS])


def retailers() -> list[Retailer]:
    """Return the market's retailers in the order of the cast, or an empty list without a market."""
    return _named(Retailer, [name for name, _ in cast.RETAILERS])


def _named(model: type[P], names: list[str]) -> list[P]:
    found = {party.name: party for party in model.objects.filter(name__in=names)}
    return [found[name] for name in names if name in found]


def _parties() -> None:
    for entry in cast.SUPPLIERS:
        supplier = Supplier.objects.create(name=entry.name, priority=50)
        for name in entry.warehouses:
            Warehouse.objects.create(supplier=supplier, name=name, is_default=name == entry.warehouses[0])
        SftpLogin.objects.create(supplier=supplier, username=entry.name.lower().replace(" ", "-"))
        Variant.objects.bulk_create(
            Variant(
                supplier=supplier,
                sku=sku,
                title=title,
                retail_price=Decimal(price),
                wholesale_price=round(Decimal(price) * WHOLESALE, 2),
                description=f"{title}, by {entry.name}.",
            )
            for sku, title, price in entry.goods
        )
    for name, _ in cast.RETAILERS:
        retailer = Retailer.objects.create(name=name)
        for supplier in suppliers():
            Partnership.objects.create(
                retailer=retailer,
                supplier=supplier,
                retailer_erp_id=f"V-{supplier.pk:04}",
                hours_to_accept=24,
                hours_to_ship=72,
                hours_to_answer=24,
            )
