"""Disk space of the database for each order, and for each row of a product file.

Orders have two lines. Each is pushed, captured, accepted and shipped by the API, as in the quick start. Then
the size of all tables with their indexes is compared with the size before.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.test import Client

from accounts.models import ApiKey, Retailer, Supplier
from events.models import Event
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tools.bench.database import own_database
from tools.bench.measuring import timed
from tools.bench.options import read_options
from tools.bench.sizes import size
from tools.demo import cast

SIZES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace
"""
GROUPS = {
    "events_event": "events",
    "inventory_stockmovement": "stock movements",
    "accounts_idempotencykey": "answers to idempotency keys, kept for a day",
    "orders_": "orders and their lines",
    "fulfillments_": "fulfillments, parcels, routing reasons",
    "catalog_": "variants",
    "imports_": "imports and their lines",
}
"""The tables whose names begin like this."""
ADDRESS = {
    "first_name": "Ada",
    "last_name": "Berg",
    "address1": "12 Harbour Street",
    "city": "Portland",
    "state": "ME",
    "zip_code": "04101",
    "country": "US",
    "email": "ada.berg@example.com",
}


class MeasuredParty:
    """The client of a party, within this process."""

    def __init__(self, party: Supplier | Retailer) -> None:
        _, self._secret = ApiKey.issue(party, "bench", rate_limit="off")
        self._base = f"/v3/{party.role.value}s/{party.pk}/"
        self._http = Client()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.generic(
            method,
            f"{self._base}{path}",
            b"" if body is None else json.dumps(body).encode(),
            "application/json",
            headers={"Authorization": f"Bearer {self._secret}", "Idempotency-Key": str(uuid4())},
        )
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path} got {answer.status_code}: {answer.content!r}")
        return json.loads(answer.content)


def main(arguments: list[str]) -> None:
    options = read_options("disk", arguments, orders=size(1_000, smoke=20), rows=size(50_000, smoke=200))
    settings.ALLOWED_HOSTS = ["testserver"]
    logging.disable(logging.INFO)  # a line for each request
    with own_database():
        cast.create()
        acme, shop = (
            MeasuredParty(Supplier.objects.get(name="Acme")),
            MeasuredParty(Retailer.objects.get(name="Shop")),
        )
        # The first orders fill pages that exist already, so they are not measured.
        trade(acme, shop, 0, size(100, smoke=5))
        before = sizes()
        with timed(f"{options.orders:,} orders with two lines", options.orders):
            trade(acme, shop, 1, options.orders)
        show(before, options.orders, "order")
        before = sizes()
        with timed(f"a product file with {options.rows:,} rows", options.rows):
            import_products(acme, options.rows)
        show(before, options.rows, "row")


def trade(acme: MeasuredParty, shop: MeasuredParty, series: int, count: int) -> None:
    """Push, capture, accept and ship this number of orders, in groups of 100."""
    for start in range(0, count, 100):
        stock(acme)
        for number in range(start, min(start + 100, count)):
            shop.ask("POST", "orders", an_order(f"SO-{series}-{number:06}"))
        for work in acme.ask(
            "GET", "fulfillments?limit=500&filter=%7B%22fulfillment_state%22%3A%22new%22%7D"
        ):
            acme.ask("PUT", f"fulfillments/{work['id']}/setStatus/accepted")
            parcel = {"tracking_number": f"BENCH{work['id']:012}", "carrier": "UPS"}
            acme.ask("PUT", f"fulfillments/{work['id']}/setStatus/shipped", parcel)
        Event.publish()


def stock(acme: MeasuredParty) -> None:
    warehouse = Warehouse.objects.filter(supplier__name="Acme").earliest("id").pk
    counts = [{"id": sku, "amount": 1_000} for sku in ("LAN-01", "KET-1L")]
    acme.ask("POST", "inventory", {"warehouse_id": warehouse, "inventories": counts})


def an_order(number: str) -> dict[str, Any]:
    supplier = Supplier.objects.get(name="Acme").pk
    return {
        "retailer_order_id": number,
        "shipping_address": ADDRESS,
        "billing_address": ADDRESS,
        "shipping_method_code": "GROUND",
        "order_lines": [
            {"supplier_id": supplier, "sku": "LAN-01", "quantity": 2, "billed_amount": 79.8},
            {"supplier_id": supplier, "sku": "KET-1L", "quantity": 1, "billed_amount": 44.5},
        ],
    }


def import_products(acme: MeasuredParty, rows: int) -> None:
    lines = [f"BENCH-{number},Article number {number},{number % 90 + 9}.90" for number in range(rows)]
    job = acme.ask("POST", "importProducts", {"data": ["sku,title,retail_price", *lines]})
    run_job(job["id"])


def sizes() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return dict(cursor.fetchall())


def show(before: dict[str, int], count: int, unit: str) -> None:
    """Print the growth of each group of tables."""
    groups: defaultdict[str, int] = defaultdict(int)
    for table, bytes_now in sizes().items():
        groups[group_of(table)] += bytes_now - before.get(table, 0)
    for name, grown in sorted(groups.items(), key=lambda pair: -pair[1]):
        if grown:
            print(f"  {name:<66} {grown / count:8,.0f} bytes for each {unit}")
    print(f"  {'together':<66} {sum(groups.values()) / count:8,.0f} bytes for each {unit}", flush=True)


def group_of(table: str) -> str:
    return next((group for start, group in GROUPS.items() if table.startswith(start)), "other tables")
