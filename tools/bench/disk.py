"""Disk space of the database for each order, and for each row of a product file.

Orders have two lines. Each order is pushed, captured, accepted and shipped by the API, as in the quick start.
Then the size of all tables with their indexes is compared with the earlier size.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from functools import partial
from typing import Any
from uuid import uuid4

from django.test import Client

from accounts.models import ApiKey, Retailer, Supplier
from events.models import Event
from imports.pipeline.job_runner import run_job
from inventory.models import Warehouse
from tools.bench.database import execute, own_database
from tools.bench.measuring import show, timed
from tools.bench.options import read_options
from tools.bench.serving.market import ADDRESS
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
"""The printed name of each group of tables, by the first letters of the tables' names."""
NEW = "fulfillments?limit=500&filter=%7B%22fulfillment_state%22%3A%22new%22%7D"
WARM_UP = size(100, smoke=5)


def main(arguments: list[str]) -> None:
    options = read_options("disk", arguments, orders=size(1_000, smoke=20), rows=size(50_000, smoke=200))
    logging.disable(logging.INFO)  # the log would have a line for each request
    with own_database():
        cast.create()
        trade(0, WARM_UP)  # the first orders fill pages that exist already, so they are not measured
        before = sizes()
        with timed(f"{options.orders:,} orders with two lines", options.orders):
            trade(WARM_UP, options.orders)
        show_growth(before, options.orders, "order")
        before = sizes()
        with timed(f"a product file with {options.rows:,} rows", options.rows):
            lines = [
                f"BENCH-{number},Article number {number},{number % 90 + 9}.90"
                for number in range(options.rows)
            ]
            data = {"data": ["sku,title,retail_price", *lines]}
            run_job(asking(Supplier.objects.get(name="Acme"))("POST", "importProducts", data)["id"])
        show_growth(before, options.rows, "row")


def asking(party: Supplier | Retailer) -> partial[Any]:
    """Return a function that sends a request of this party, within this process."""
    _, secret = ApiKey.issue(party, "bench", rate_limit="off")
    base = f"/v3/{party.role.value}s/{party.pk}/"
    return partial(_ask, Client(HTTP_HOST="localhost"), base, secret)


def _ask(client: Client, base: str, secret: str, method: str, path: str, body: Any = None) -> Any:
    answer = client.generic(
        method,
        f"{base}{path}",
        b"" if body is None else json.dumps(body).encode(),
        "application/json",
        headers={"Authorization": f"Bearer {secret}", "Idempotency-Key": str(uuid4())},
    )
    if answer.status_code >= 400:
        raise RuntimeError(f"{method} {path} got {answer.status_code}: {answer.content!r}")
    return json.loads(answer.content)


def trade(after: int, count: int) -> None:
    """Push, capture, accept and ship this number of orders, in groups of 100."""
    supplier = Supplier.objects.get(name="Acme")
    acme, shop = asking(supplier), asking(Retailer.objects.get(name="Shop"))
    warehouse = Warehouse.objects.filter(supplier=supplier).earliest("id").pk
    counts = [{"id": sku, "amount": 1_000} for sku in ("LAN-01", "KET-1L")]
    address = json.loads(ADDRESS)
    for number in range(after, after + count):
        if number % 100 == 0:
            acme("POST", "inventory", {"warehouse_id": warehouse, "inventories": counts})
        order = {
            "retailer_order_id": f"SO-{number:06}",
            "shipping_address": address,
            "billing_address": address,
            "shipping_method_code": "GROUND",
            "order_lines": [
                {"supplier_id": supplier.pk, "sku": "LAN-01", "quantity": 2, "billed_amount": 79.8},
                {"supplier_id": supplier.pk, "sku": "KET-1L", "quantity": 1, "billed_amount": 44.5},
            ],
        }
        shop("POST", "orders", order)
        if number % 100 == 99 or number == after + count - 1:
            for work in acme("GET", NEW):
                path = f"fulfillments/{work['id']}/setStatus"
                acme("PUT", f"{path}/accepted")
                acme(
                    "PUT", f"{path}/shipped", {"tracking_number": f"BENCH{work['id']:012}", "carrier": "UPS"}
                )
            Event.publish()


def sizes() -> Counter[str]:
    """Return the bytes of each group of tables."""
    groups: Counter[str] = Counter()
    for table, bytes_now in execute(SIZES):
        groups[next((name for start, name in GROUPS.items() if table.startswith(start)), "other tables")] += (
            bytes_now
        )
    return groups


def show_growth(before: Counter[str], count: int, unit: str) -> None:
    grown = sizes()
    grown.subtract(before)
    for name, growth in grown.most_common():
        if growth:
            show(name, growth / count, unit=f"bytes for each {unit}", digits=0)
    show("together", grown.total() / count, unit=f"bytes for each {unit}", digits=0)
