"""A stock push of many elements beside a bare view; a stock file's first load with and without movements."""

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
from tools.bench.serving.asking import BenchRequest
from tools.bench.serving.load import clients
from tools.bench.serving.market import execute
from tools.bench.serving.rounds import LoadTarget, in_turn, rate, share
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

STOCK_FILE = {"id_field": "sku", "amount_field": "quantity", "id_type": "sku", "mode": "delta"}

COUNTS = 8
"""The pushes differ in their counts, so that each push changes every row."""


def main(arguments: list[str]) -> None:
    elements, rows = size(10_000, smoke=100), size(200_000, smoke=500)
    options = read_options("inventory", arguments, elements=elements, rows=rows)
    with tempfile.TemporaryDirectory() as folder, own_database():
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        measure_movements(Path(folder), options.rows)
    with own_database():
        requests = pushes(options.elements)
        with clients() as pool, running_service() as service:
            targets = {
                "real": LoadTarget(service.port, [request.real_bytes() for request in requests]),
                "bare": LoadTarget(service.port, [request.bare_bytes() for request in requests]),
            }
            rounds = in_turn(pool, targets, connections=1)
    real, bare = rate(rounds["real"]), rate(rounds["bare"])
    label = f"pushes of {options.elements:,} elements per second: the Exchange, bare"
    print(f"  {label:<66} {real:8.2f} {bare:8.2f}")
    ratio("time of a push / of the bare SQL", 1 / share(rounds["real"], rounds["bare"]), 1.0, 2.0)


ROUNDS = size(5, smoke=1)


def measure_movements(folder: Path, rows: int) -> None:
    """Load one file into new warehouses, alternately with and without movements."""
    path = folder / "stock.csv"
    files.write_stock(path, rows)
    supplier = Supplier.objects.create(name="Bench")
    execute(VARIANTS, {"supplier": supplier.pk, "model": 4, "variants": rows})
    seconds: dict[str, list[float]] = {"with movements": [], "without": []}
    for turn in range(ROUNDS):
        for name, times in seconds.items():
            warehouse = Warehouse.objects.create(supplier=supplier, name=f"{name} {turn}")
            options = {**STOCK_FILE, "warehouse_id": warehouse.pk}
            without = mock.patch.object(counts, "INSERT", counts.MISSING + counts.INSERT_LEVELS)
            with without if name == "without" else nullcontext():
                times.append(run_import(supplier, "inventory", path, f"first load, {name}", rows, options))
    both = median(seconds["with movements"])
    ratio("stock, first load with movements / without", both, median(seconds["without"]), 1.35)


def pushes(elements: int) -> list[BenchRequest]:
    """Return pushes of the same variants with different counts."""
    shop = a_shop("Counted", elements)
    warehouse = Warehouse.objects.get(supplier_id=shop.supplier_id)
    _, secret = ApiKey.issue(Supplier.objects.get(pk=shop.supplier_id), "bench")
    path = f"suppliers/{shop.supplier_id}/inventory"
    return [
        BenchRequest(
            "POST", f"/v3/{path}", f"/bare/{path}", secret, _body(warehouse.pk, elements, 1000 + count)
        )
        for count in range(COUNTS)
    ]


def _body(warehouse_id: int, elements: int, quantity: int) -> bytes:
    counted = [{"sku": f"SKU-{n:08d}", "quantity": quantity + n} for n in range(1, elements + 1)]
    return json.dumps({"warehouse_id": warehouse_id, "inventories": counted}).encode()
