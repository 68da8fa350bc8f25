"""The import of a product file, beside two common ways of Django projects to load the same file.

The first is `django-import-export` with a cached loader and its fastest settings for each load; the second
is a loop over the file with `bulk_create(update_conflicts=True)`. Each writes the same table for its own
supplier, and all must leave the same rows. Only the import checks check digits, lengths and ambiguous
numbers, resumes after a kill, and reports bad rows by line.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Sum
from django.utils import timezone

from accounts.models import Supplier
from catalog.models import Variant
from imports.models import ImportJob
from imports.pipeline.job_runner import run_job
from tools.bench import files
from tools.bench.database import own_database
from tools.bench.imports import execute, require_success, start
from tools.bench.measuring import timed
from tools.bench.options import read_options
from tools.bench.sizes import size

FIELDS = files.HEADER.split(",")
NUMERIC = {"retail_price", "wholesale_price", "weight"}
BATCH = 1_000  # sizes from 250 to 10,000 differ in speed only by chance

Load = Callable[[Any, Path], None]
LOADS = ("first load", "1 % changed")


def main(arguments: list[str]) -> None:
    options = read_options("compared", arguments, rows=size(100_000, smoke=500))
    with tempfile.TemporaryDirectory() as folder, own_database():
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        compare(Path(folder), options.rows)


def compare(folder: Path, rows: int) -> None:
    first, second = folder / "first.csv", folder / "second.csv"
    files.write_products(first, rows)
    files.write_products(second, rows, changed_every=100)
    print(f"  {rows:,} rows, {first.stat().st_size / 1e6:,.0f} MB; first load, then 1 % changed", flush=True)
    seconds: dict[str, list[float]] = {}
    digests: set[tuple[Any, ...]] = set()
    for name, (load, again) in contenders().items():
        seconds[name], digest = measure(name, rows, (load, first), (again, second))
        digests.add(digest)
    if len(digests) != 1:
        sys.exit(f"The contenders left different rows: {digests}")
    ours, *others = seconds
    for name in others:
        for number, load_name in enumerate(LOADS):
            label = f"{load_name}: time of {name} / of the import"
            print(f"  {label:<66} {seconds[name][number] / seconds[ours][number]:8.1f}", flush=True)


def contenders() -> dict[str, tuple[Load, Load]]:
    """Return the contenders, the import first; each has a function for a first and for a second load."""
    loads: dict[str, tuple[Load, Load]] = {"the import": (by_import, by_import)}
    try:
        import import_export  # noqa: F401 - an optional package
    except ImportError:
        print("  django-import-export is left out, because it is not installed: `make bench` installs it, or")
        print("  `pip install -r requirements/bench.txt`.")
    else:
        loads["django-import-export"] = (by_resource(again=False), by_resource(again=True))
    return {**loads, "bulk_create upserts": (by_bulk_create, by_bulk_create)}


def measure(name: str, rows: int, *loads: tuple[Load, Path]) -> tuple[list[float], tuple[Any, ...]]:
    """Return the seconds of each load, and a digest of the rows after both."""
    supplier, seconds = Supplier.objects.create(name=name), []
    for load_name, (load, path) in zip(LOADS, loads, strict=True):
        execute("VACUUM ANALYZE catalog_variant")
        with timed(f"{name}: {load_name}", rows) as clock:
            load(supplier, path)
        seconds.append(clock.seconds)
    variants = Variant.objects.for_supplier(supplier)
    totals = [Sum("retail_price"), Sum("wholesale_price"), Sum("weight"), Count("title", distinct=True)]
    return seconds, tuple(variants.aggregate(Count("pk"), *totals).values())


def by_import(supplier: Any, path: Path) -> None:
    pk = start(supplier, "products", path, None)
    run_job(pk)
    require_success(ImportJob.objects.get(pk=pk), "the import")


def by_resource(*, again: bool) -> Load:
    """Load with django-import-export. If most rows are unchanged, comparing is faster than writing all."""
    # An optional package: the other contenders run without it.
    from import_export.instance_loaders import CachedInstanceLoader
    from import_export.resources import ModelResource
    from tablib import Dataset

    lean = lean_variant()

    class Resource(ModelResource):  # type: ignore[misc] # it has no types
        """Variants of one supplier."""

        class Meta:
            model = lean
            fields = FIELDS
            import_id_fields = ("sku",)
            instance_loader_class = CachedInstanceLoader
            use_bulk = True
            batch_size = BATCH
            skip_diff = not again
            skip_html_diff = True
            skip_unchanged = again
            report_skipped = False
            use_transactions = True

        def __init__(self, supplier: Any) -> None:
            super().__init__()
            self.supplier = supplier

        def get_queryset(self) -> Any:
            return lean.objects.filter(supplier_id=self.supplier.pk)

        def init_instance(self, row: Any = None) -> Any:
            return lean(supplier_id=self.supplier.pk)

    def load(supplier: Any, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as file:
            dataset = Dataset().load(file, format="csv")
        result = Resource(supplier).import_data(dataset, raise_errors=True)
        assert not result.has_errors()

    return load


def by_bulk_create(supplier: Any, path: Path) -> None:
    lean = lean_variant()
    changes = [*(field for field in FIELDS if field != "sku"), "updated_at"]
    with path.open(encoding="utf-8", newline="") as file:
        for batch in _batches(csv.DictReader(file)):
            lean.objects.bulk_create(
                [lean(supplier_id=supplier.pk, **_typed(row)) for row in batch],
                update_conflicts=True,
                unique_fields=["supplier_id", "sku"],
                update_fields=changes,
            )


@cache
def lean_variant() -> Any:
    """Return a model of the table of variants with only the file's columns.

    Django then sends the rows as arrays, which is much faster. In this database, defaults fill the other
    columns.
    """
    meta: Any = Variant._meta
    fields: dict[str, Any] = {name: meta.get_field(name).clone() for name in FIELDS}

    class Meta:
        app_label, managed, db_table = "catalog", False, meta.db_table

    for column, default in {
        "description_bullets": "{}",
        "gtin": "",
        "options": "[]",
        "properties": "[]",
        "listed": "true",
    }.items():
        execute(f"ALTER TABLE catalog_variant ALTER COLUMN {column} SET DEFAULT '{default}'")
    fields |= {
        "supplier_id": models.BigIntegerField(),
        "updated_at": models.DateTimeField(default=timezone.now),
    }
    return type("LeanVariant", (models.Model,), {**fields, "Meta": Meta, "__module__": __name__})


def _typed(row: dict[str, str]) -> dict[str, Any]:
    return {name: Decimal(cell) if name in NUMERIC else cell for name, cell in row.items()}


def _batches(rows: Iterator[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
