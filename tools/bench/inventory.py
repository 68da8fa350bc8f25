"""A stock push of many elements over HTTP, beside a bare view that runs only the SQL for them; and what a
stock file's first load takes with the movements that it writes, and without.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from unittest import mock

from django.conf import settings

from accounts.models import ApiKey, Supplier
from inventory import counts
from inventory.models import Warehouse
from tools.bench import files
from tools.bench.database import own_database
from tools.bench.imports import run_import
from tools.bench.measuring import ratio
from tools.bench.options import read_options
from tools.bench.pull import VARIANTS, a_shop
from tools.bench.serving.asking import Asked
from tools.bench.serving.load import clients
from tools.bench.serving.market import execute
from tools.bench.serving.rounds import Target, in_turn, rate, share
from tools.bench.serving.service import running_service

STOCK_FILE = {"id_field": "sku", "amount_field": "quantity", "id_type": "sku", "mode": "delta"}

COUNTS = 8
"""So many different counts of the same variants are pushed in turn: each push changes every row."""


def main(arguments: list[str]) -> None:
    options = read_options("inventory", arguments, elements=10_000, rows=200_000)
    with tempfile.TemporaryDirectory() as folder, own_database():
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        measure_movements(Path(folder), options.rows)
    with own_database():
        requests = pushes(options.elements)
        with clients() as pool, running_service() as service:
            targets = {
                "real": Target(service.port, [each.real_bytes() for each in requests]),
                "bare": Target(service.port, [each.bare_bytes() for each in requests]),
            }
            found = in_turn(pool, targets, connections=1)
    real, bare = rate(found["real"]), rate(found["bare"])
    label = f"pushes of {options.elements:,} elements in a second: the Exchange, bare"
    print(f"  {label:<66} {real:8.2f} {bare:8.2f}")
    ratio("time of a push / of the bare SQL", 1 / share(found["real"], found["bare"]), 1.0, 2.0)


ROUNDS = 5


def measure_movements(folder: Path, rows: int) -> None:
    """First loads of one file into one empty warehouse after another, in turn with movements and without."""
    path = folder / "stock.csv"
    files.write_stock(path, rows)
    supplier = Supplier.objects.create(name="Bench")
    execute(VARIANTS, {"supplier": supplier.pk, "model": 4, "variants": rows})
    seconds: dict[str, list[float]] = {"with movements": [], "without": []}
    for turn in range(ROUNDS):
        for name, found in seconds.items():
            warehouse = Warehouse.objects.create(supplier=supplier, name=f"{name} {turn}")
            options = {**STOCK_FILE, "warehouse_id": warehouse.pk}
            without = mock.patch.object(counts, "INSERT", counts.MISSING + counts.INSERT_LEVELS)
            with without if name == "without" else nullcontext():
                found.append(run_import(supplier, "inventory", path, f"first load, {name}", rows, options))
    both = median(seconds["with movements"])
    ratio("stock, first load with movements / without", both, median(seconds["without"]), 1.35)


def pushes(elements: int) -> list[Asked]:
    """The same variants, counted differently each time."""
    shop = a_shop("Counted", elements)
    warehouse = Warehouse.objects.get(supplier_id=shop.supplier_id)
    _, secret = ApiKey.issue(Supplier.objects.get(pk=shop.supplier_id), "bench")
    path = f"suppliers/{shop.supplier_id}/inventory"
    return [
        Asked("POST", f"/v3/{path}", f"/bare/{path}", secret, _body(warehouse.pk, elements, 1000 + count))
        for count in range(COUNTS)
    ]


def _body(warehouse_id: int, elements: int, quantity: int) -> bytes:
    counted = [{"sku": f"SKU-{n:08d}", "quantity": quantity + n} for n in range(1, elements + 1)]
    return json.dumps({"warehouse_id": warehouse_id, "inventories": counted}).encode()
