"""The import of a product file beside what a Django project would otherwise reach for, on the same file.

Beside `django-import-export` with a cached loader and its fastest settings for either load, and beside a
loop over the file with `bulk_create(update_conflicts=True)`. All write the same table, each for a supplier
of its own, and must leave the same rows there. Neither of the two checks as much as the import does: check
digits, lengths, numbers of two meanings; nor do they go on after a kill or report bad rows by line.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils import timezone

from bench import files
from bench.database import own_database
from bench.measuring import timed

FIELDS = files.HEADER.split(",")
NUMERIC = {"retail_price", "wholesale_price", "weight"}
# The fastest of 250, 1,000 and 4,000 for each.
RESOURCE_BATCH, UPSERT_BATCH = 4_000, 250

Load = Callable[[Any, Path], None]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench compared")
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, own_database():
        from django.conf import settings

        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        compare(Path(folder), options.rows)


def compare(folder: Path, rows: int) -> None:
    first, second = folder / "first.csv", folder / "second.csv"
    files.write_products(first, rows)
    files.write_products(second, rows, changed_every=100)
    print(f"  {rows:,} rows, {first.stat().st_size / 1e6:,.0f} MB; first load, then 1 % changed", flush=True)
    seconds: dict[str, list[float]] = {}
    left: set[tuple[Any, ...]] = set()
    for name, (load, again) in contenders().items():
        seconds[name], found = measure(name, rows, (load, first), (again, second))
        left.add(found)
    if len(left) != 1:
        sys.exit(f"They did not do the same work: {left}")
    ours, *others = seconds
    for name in others:
        for at, what in enumerate(("first load", "1 % changed")):
            label = f"{what}: time of {name} / of the import"
            print(f"  {label:<66} {seconds[name][at] / seconds[ours][at]:8.1f}", flush=True)


def contenders() -> dict[str, tuple[Load, Load]]:
    """What is compared, the import first; for each the way of a first load and of another."""
    found: dict[str, tuple[Load, Load]] = {"the import": (by_import, by_import)}
    try:
        import import_export  # noqa: F401
    except ImportError:
        print("  django-import-export is not here, and left out: make bench installs it, or")
        print("  pip install -r requirements-bench.txt")
    else:
        found["django-import-export"] = (by_resource(again=False), by_resource(again=True))
    return {**found, "bulk_create upserts": (by_bulk_create, by_bulk_create)}


def measure(name: str, rows: int, *loads: tuple[Load, Path]) -> tuple[list[float], tuple[Any, ...]]:
    """Seconds of each load, and a digest of the rows that are there after them."""
    from django.db.models import Count, Sum

    from accounts.models import Supplier
    from bench.imports import execute
    from catalog.models import Variant

    supplier, seconds = Supplier.objects.create(name=name), []
    for what, (load, path) in zip(("first load", "1 % changed"), loads, strict=True):
        execute("VACUUM ANALYZE catalog_variant")
        with timed(f"{name}: {what}", rows) as clock:
            load(supplier, path)
        seconds.append(clock.seconds)
    variants = Variant.objects.for_supplier(supplier)
    totals = [Sum("retail_price"), Sum("wholesale_price"), Sum("weight"), Count("title", distinct=True)]
    return seconds, tuple(variants.aggregate(Count("pk"), *totals).values())


def by_import(supplier: Any, path: Path) -> None:
    from bench.imports import start, told
    from imports.models import ImportJob
    from imports.running import run_job

    pk = start(supplier, "products", path, None)
    run_job(pk)
    told(ImportJob.objects.get(pk=pk), "the import")


def by_resource(*, again: bool) -> Load:
    """django-import-export; where most rows are unchanged it is faster to look than to write them all."""
    from import_export.instance_loaders import CachedInstanceLoader
    from import_export.resources import ModelResource
    from tablib import Dataset

    from catalog.models import Variant

    class Resource(ModelResource):  # type: ignore[misc] # it has no types
        """Variants of one supplier."""

        class Meta:
            model = Variant
            fields = FIELDS
            import_id_fields = ("sku",)
            instance_loader_class = CachedInstanceLoader
            use_bulk = True
            batch_size = RESOURCE_BATCH
            skip_diff = not again
            skip_html_diff = True
            skip_unchanged = again
            report_skipped = False
            use_transactions = True

        def __init__(self, supplier: Any) -> None:
            super().__init__()
            self.supplier = supplier

        def get_queryset(self) -> Any:
            return Variant.objects.for_supplier(self.supplier)

        def init_instance(self, row: Any = None) -> Any:
            return fresh(self.supplier)

    def load(supplier: Any, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            dataset = Dataset().load(file, format="csv")
        result = Resource(supplier).import_data(dataset, raise_errors=True)
        assert not result.has_errors()

    return load


def by_bulk_create(supplier: Any, path: Path) -> None:
    from catalog.models import Variant

    changes = [*(field for field in FIELDS if field != "sku"), "updated_at"]
    with path.open(encoding="utf-8", newline="") as file:
        for batch in _batches(csv.DictReader(file)):
            Variant.objects.bulk_create(
                [fresh(supplier, **_typed(row)) for row in batch],
                update_conflicts=True,
                unique_fields=["supplier", "sku"],
                update_fields=changes,
            )


def fresh(supplier: Any, **values: Any) -> Any:
    """A new variant, with values for what the database could say: Django writes that row by row, slowly."""
    from catalog.models import Variant

    now = timezone.now()
    return Variant(supplier=supplier, created_at=now, updated_at=now, changed_in=0, **values)


def _typed(row: dict[str, str]) -> dict[str, Any]:
    return {name: Decimal(cell) if name in NUMERIC else cell for name, cell in row.items()}


def _batches(rows: Iterator[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    while batch := list(islice(rows, UPSERT_BATCH)):
        yield batch
