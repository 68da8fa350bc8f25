"""A stock push beside a bare view, and the first load of a stock file with and without stock movements."""

from __future__ import annotations

from contextlib import nullcontext
from statistics import median
from unittest import mock

from accounts.models import ApiKey
from inventory import counts
from inventory.models import Warehouse
from tools.bench import files
from tools.bench.database import own_database
from tools.bench.imports import STOCK_FILE, run_import, upload_folder
from tools.bench.measuring import at_most, show
from tools.bench.options import read_options
from tools.bench.serving.byte_requests import post
from tools.bench.serving.rounds import beside_bare
from tools.bench.serving.service import running_service
from tools.bench.serving.shop import a_shop
from tools.bench.sizes import size

COUNTS = 8
"""The number of different pushes. Their counts differ, so that each push changes every row."""
ROUNDS = size(5, smoke=1)


def main(arguments: list[str]) -> None:
    elements, rows = size(10_000, smoke=100), size(200_000, smoke=500)
    options = read_options("inventory", arguments, elements=elements, rows=rows)
    with own_database():
        measure_movements(options.rows)
    with own_database():
        requests = pushes(options.elements)
        with running_service() as port:
            real, bare, share = beside_bare(port, requests, connections=1)
    show(f"pushes of {options.elements:,} elements per second: the Exchange, bare", real, bare)
    at_most("time of a push / of the bare SQL", 1 / share, 2.0)


def measure_movements(rows: int) -> None:
    """Load one file into new warehouses, alternately with and without movements."""
    seconds: dict[str, list[float]] = {"with movements": [], "without": []}
    with upload_folder() as folder:
        supplier, path = a_shop("Bench", rows).supplier, folder / "stock.csv"
        files.write_stock(path, rows)
        for turn in range(ROUNDS):
            for name, times in seconds.items():
                warehouse = Warehouse.objects.create(supplier=supplier, name=f"{name} {turn}")
                options = {**STOCK_FILE, "warehouse_id": warehouse.pk}
                without = mock.patch.object(counts, "INSERT", counts.MISSING + counts.INSERT_LEVELS)
                with without if name == "without" else nullcontext():
                    label = f"first load, {name}"
                    times.append(run_import(supplier, "inventory", path, label, rows, options))
    both = median(seconds["with movements"])
    at_most("stock, first load with movements / without", both / median(seconds["without"]), 1.35)


def pushes(elements: int) -> list[bytes]:
    """Return pushes of the same variants with different counts."""
    shop = a_shop("Counted", elements)
    _, secret = ApiKey.issue(shop.supplier, "bench")
    bodies = [
        [{"sku": f"SKU-{n:08d}", "quantity": 1000 + count + n} for n in range(1, elements + 1)]
        for count in range(COUNTS)
    ]
    return [
        post(
            f"suppliers/{shop.supplier.pk}/inventory",
            secret,
            {"warehouse_id": shop.warehouse.pk, "inventories": body},
        )
        for body in bodies
    ]
