"""A retailer's full pull from the real server, beside `COPY (the same SELECT) TO STDOUT`.

Memory is the peak of the worker process that answers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from urllib.request import Request, urlopen

from django.db import connection

from accounts.models import ApiKey, Partnership, Retailer, Supplier
from assortment.selectors import GROUPS_BEHIND
from inventory.models import Warehouse
from tools.bench.database import own_database
from tools.bench.measuring import at_least, peak_mib, ratio, timed
from tools.bench.options import read_options
from tools.bench.serving.market import execute
from tools.bench.serving.service import Service, running_service
from tools.bench.sizes import size

SMALL = size(10_000, smoke=500)
PER_MODEL = 4
VARIANTS = """
    INSERT INTO catalog_variant (supplier_id, sku, model, title, description, description_extra,
        description_bullets, upc, ean, gtin, id_in_source, images, retail_price, wholesale_price, options,
        properties, listed)
    SELECT %(supplier)s, 'SKU-' || lpad(n::text, 8, '0'), 'MODEL-' || lpad((n / %(model)s)::text, 7, '0'),
        'Shirt no. ' || n || ', red', 'soft cotton made to last, washed at thirty degrees and dried in the'
        ' shade of an old tree ' || n, 'soft cotton made to', '{}', '', '', '', n::text,
        'https://images.example.com/' || n || '.jpg', 19.99, 9.5, '[]', '[]', true
    FROM generate_series(1, %(variants)s) n
"""
STOCK = """
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
    SELECT v.id, %(warehouse)s, v.id %% 500, 0 FROM catalog_variant v WHERE v.supplier_id = %(supplier)s
    ORDER BY v.id
"""


@dataclass(frozen=True)
class Shop:
    """A retailer with one supplier, and the retailer's key."""

    retailer_id: int
    supplier_id: int
    secret: str


@dataclass(frozen=True)
class Pulled:
    """The seconds until the first and the last byte of a pull, and its number of bytes."""

    first: float
    seconds: float
    length: int


def main(arguments: list[str]) -> None:
    rows, rounds = size(1_000_000, smoke=1_000), size(3, smoke=1)
    options = read_options("pull", arguments, rows=rows, rounds=rounds)
    with own_database():
        small, large = a_shop("Small", SMALL), a_shop("Large", options.rows)
        with running_service(workers=1) as service:
            measure(service, small, large, options.rows, options.rounds)


def a_shop(name: str, variants: int) -> Shop:
    supplier, retailer = Supplier.objects.create(name=name), Retailer.objects.create(name=name)
    Partnership.objects.create(retailer=retailer, supplier=supplier)
    warehouse = Warehouse.objects.create(supplier=supplier, name="Main", is_default=True)
    with timed(f"{variants:,} variants and their stock"):
        execute(VARIANTS, {"supplier": supplier.pk, "model": PER_MODEL, "variants": variants})
        execute(STOCK, {"supplier": supplier.pk, "warehouse": warehouse.pk})
        execute("VACUUM ANALYZE")
    return Shop(retailer.pk, supplier.pk, ApiKey.issue(retailer, "bench")[1])


def measure(service: Service, small: Shop, large: Shop, rows: int, rounds: int) -> None:
    for _ in range(2):
        of_small = pull(service, small)
    few = peak_of(service)
    pulls, copies = [], []
    for _ in range(rounds):
        pulls.append(pull(service, large))
        copies.append(copied(large))
    many = peak_of(service)
    seconds, limit = median(each.seconds for each in pulls), median(copies)
    pulled = f"pull of {rows:,} variants, {pulls[0].length / 1e6:,.0f} MB"
    for label, taken in ((pulled, seconds), ("COPY (the same SELECT) TO STDOUT", limit)):
        print(f"  {label:<66} {taken:8.2f} s, {rows / taken:>10,.0f} variants/s")
    shares = [copy / each.seconds for each, copy in zip(pulls, copies, strict=True)]
    at_least("rate of the pull / rate of COPY", median(shares), 0.6)
    print(f"  {f'peak memory in MiB: {SMALL:,} variants, {rows:,}':<66} {few:8.1f} {many:8.1f}")
    ratio("peak memory of the large / of the small", many, few, 1.1)
    first = median(each.first for each in pulls)
    print(f"  {f'first byte in s: {SMALL:,} variants, {rows:,}':<66} {of_small.first:8.3f} {first:8.3f}")
    print(f"  {'share of the pull that the first byte takes':<66} {first / seconds:8.4f}", flush=True)


def pull(service: Service, shop: Shop) -> Pulled:
    """Make one full pull over HTTP."""
    path = f"http://127.0.0.1:{service.port}/v3/retailers/{shop.retailer_id}/variants?service_type=ecommerce"
    began = time.perf_counter()
    with urlopen(Request(path, headers={"Authorization": f"Bearer {shop.secret}"})) as response:
        length = len(response.read(1))
        first = time.perf_counter() - began
        while chunk := response.read(1024**2):
            length += len(chunk)
    return Pulled(first, time.perf_counter() - began, length)


def copied(shop: Shop) -> float:
    """Return the seconds that PostgreSQL needs to deliver the same rows by one statement."""
    params = {"supplier": shop.supplier_id, "safety": 0, "after": "", "most": 10**9}
    began = time.perf_counter()
    with connection.cursor() as cursor, cursor.copy(f"COPY ({GROUPS_BEHIND}) TO STDOUT", params) as out:
        for _ in out:
            pass
    return time.perf_counter() - began


def peak_of(service: Service) -> float:
    return max(peak_mib(pid) for pid in service.workers())
