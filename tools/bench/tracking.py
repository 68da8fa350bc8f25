"""Parcels shipped with a derived carrier: the share of the processor time that deriving takes.

Deriving takes some microseconds, which is less than the random difference between two runs. Therefore the
time of deriving itself is measured. The time of PostgreSQL is not counted, so the share of a whole push is
smaller.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count, islice
from statistics import median
from unittest import mock

from accounts.actors import Actor, ActorKind
from catalog.models import Variant
from fulfillments.models import Fulfillment
from fulfillments.tracking import carriers
from orders.pushing import push
from tools.bench.database import own_database
from tools.bench.measuring import at_most, show
from tools.bench.options import read_options
from tools.bench.serving.market import ADDRESS
from tools.bench.serving.shop import Shop, a_shop
from tools.bench.sizes import size

MOST = 1.02
ROUNDS = size(12, smoke=2)
CLERK = Actor(ActorKind.SUPPLIER, "bench")
READERS = ("fulfillments.models.fulfillment.identify", "fulfillments.models.shipment.identify")


def main(arguments: list[str]) -> None:
    options = read_options("tracking", arguments, parcels=size(100, smoke=3))
    with own_database():
        work = new_work(a_shop("Shipped", 10))
        # Use different UPS numbers, so that no answer comes from the cache.
        numbers = (f"1Z5R8939{number:010}" for number in count())
        rounds = [shipped([*islice(work, options.parcels)], numbers) for _ in range(ROUNDS)]
    whole, deriving = (median(each) / options.parcels * 1000 for each in zip(*rounds, strict=True))
    show(f"a push of {options.parcels} parcels, CPU ms each: whole, deriving", whole, deriving, digits=3)
    at_most("time of a parcel with / without a derived carrier", whole / (whole - deriving), MOST)


def new_work(shop: Shop) -> Iterator[Fulfillment]:
    """Yield new accepted fulfillments without end."""
    sku = Variant.objects.filter(supplier=shop.supplier).order_by("pk").values_list("sku", flat=True)[0]
    for number in count():
        content = {
            "retailer_order_id": f"BENCH-{number}",
            "shipping_address": json.loads(ADDRESS),
            "billing_address": json.loads(ADDRESS),
            "order_lines": [{"supplier_id": shop.supplier.pk, "sku": sku, "quantity": 1}],
        }
        order = push(shop.retailer, content, by=Actor.system("bench")).order
        fulfillment = Fulfillment.objects.select_related("order").get(order=order)
        with fulfillment.order.change(by=CLERK) as change:
            fulfillment.accept(change)
        yield fulfillment


def shipped(parcels: list[Fulfillment], numbers: Iterator[str]) -> tuple[float, float]:
    """Ship each fulfillment in one parcel. Return the CPU seconds in total, and for deriving carriers."""
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
