"""Parcels shipped with a derived carrier: the share of the processor time that deriving takes.

Deriving takes some microseconds, so its own time is measured: two runs, one without it, differ by more than
that. The time of PostgreSQL is not counted, so the share of a whole push is smaller.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from statistics import median
from unittest import mock

from accounts.actors import Actor, ActorKind
from accounts.models import Retailer, Supplier
from catalog.models import Variant
from fulfillments.models import Fulfillment
from fulfillments.tracking import carriers
from orders.pushing import push
from tools.bench.database import own_database
from tools.bench.measuring import ratio
from tools.bench.options import read_options
from tools.bench.pull import a_shop
from tools.bench.sizes import size

MOST = 1.02
ROUNDS = size(12, smoke=2)
BENCH = Actor.system("bench")
CLERK = Actor(ActorKind.SUPPLIER, "bench")
READERS = ("fulfillments.models.fulfillment.identify", "fulfillments.models.shipment.identify")
ADDRESS = {
    "first_name": "Ada",
    "last_name": "Berg",
    "address1": "12 Harbour Street",
    "city": "Portland",
    "state": "ME",
    "zip_code": "04101",
    "country": "US",
}


def main(arguments: list[str]) -> None:
    options = read_options("tracking", arguments, parcels=size(100, smoke=3))
    with own_database():
        shop = a_shop("Shipped", 10)
        work = new_work(shop.retailer_id, shop.supplier_id)
        numbers = tracking_numbers()
        parts = []
        for _ in range(ROUNDS):
            parcels = [next(work) for _ in range(options.parcels)]
            parts.append(shipped(parcels, numbers))
    whole, deriving = (median(each) / options.parcels * 1000 for each in zip(*parts, strict=True))
    label = f"a push of {options.parcels} parcels, CPU ms each: whole, deriving"
    print(f"  {label:<66} {whole:8.3f} {deriving:8.3f}")
    ratio("time of a parcel with / without a derived carrier", whole, whole - deriving, MOST)


def new_work(retailer_id: int, supplier_id: int) -> Iterator[Fulfillment]:
    """Yield new accepted fulfillments without end."""
    retailer, supplier = Retailer.objects.get(pk=retailer_id), Supplier.objects.get(pk=supplier_id)
    sku = Variant.objects.filter(supplier=supplier).order_by("pk").values_list("sku", flat=True)[0]
    for number in count():
        content = {
            "retailer_order_id": f"BENCH-{number}",
            "shipping_address": ADDRESS,
            "billing_address": ADDRESS,
            "order_lines": [{"supplier_id": supplier_id, "sku": sku, "quantity": 1}],
        }
        order = push(retailer, content, by=BENCH).order
        fulfillment = Fulfillment.objects.select_related("order").get(order=order)
        with fulfillment.order.change(by=CLERK) as change:
            fulfillment.accept(change)
        yield fulfillment


def tracking_numbers() -> Iterator[str]:
    """Yield numbers of UPS that differ, so that no answer comes from the cache."""
    return (f"1Z5R8939{number:010}" for number in count())


def shipped(parcels: list[Fulfillment], numbers: Iterator[str]) -> tuple[float, float]:
    """Ship each fulfillment in one parcel; return the seconds of the whole and of deriving."""
    deriving = 0.0

    def timed(tracking_number: str, carrier: str = "") -> carriers.Identified:
        nonlocal deriving
        began = time.process_time()
        found = carriers.identify(tracking_number, carrier)
        deriving += time.process_time() - began
        return found

    with mock.patch(READERS[0], timed), mock.patch(READERS[1], timed):
        began = time.process_time()
        for fulfillment in parcels:
            with fulfillment.order.change(by=CLERK) as change:
                fulfillment.ship(change, tracking_number=next(numbers))
        return time.process_time() - began, deriving
