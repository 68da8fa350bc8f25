"""Parcels shipped with and without a derived carrier: the share of the time that deriving takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
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
NOTHING = carriers.Identified(carrier="", is_named=False)
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
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(2 * ROUNDS):
            # The order of the two alternates, because the first of a pair meets colder caches.
            is_derived = turn % 4 in (0, 3)
            parcels = [next(work) for _ in range(options.parcels)]
            seconds[is_derived].append(shipped(parcels, numbers, is_derived=is_derived))
    label = f"a push of {options.parcels} parcels, ms each: derived, not derived"
    derived, plain = (median(seconds[kind]) / options.parcels * 1000 for kind in (True, False))
    print(f"  {label:<66} {derived:8.2f} {plain:8.2f}")
    ratio("time of a parcel with / without a derived carrier", derived, plain, MOST)


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


def shipped(parcels: list[Fulfillment], numbers: Iterator[str], *, is_derived: bool) -> float:
    """Ship each fulfillment in one parcel; return the seconds."""
    patches = [nullcontext() if is_derived else mock.patch(name, return_value=NOTHING) for name in READERS]
    with patches[0], patches[1]:
        began = time.perf_counter()
        for fulfillment in parcels:
            with fulfillment.order.change(by=CLERK) as change:
                fulfillment.ship(change, tracking_number=next(numbers))
        return time.perf_counter() - began
