"""The import of a product file, beside two ways in which Django projects commonly load the same file.

The first way is `django-import-export` with a cached loader and its fastest settings for each load. The
second is a loop over the file with `bulk_create(update_conflicts=True)`. All three write to the same table,
each for a supplier of its own, and must leave the same rows. Only the import verifies lengths, check digits
and ambiguous numbers, continues after a crash, and reports bad rows by line.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import models
from django.db.models import Count, Sum
from django.utils import timezone

from accounts.models import Supplier
from catalog.models import Variant
from tools.bench import files
from tools.bench.database import execute, own_database
from tools.bench.imports import COLUMNS, NUMERIC, run_import, upload_folder
from tools.bench.measuring import show, timed
from tools.bench.options import read_options
from tools.bench.sizes import size

BATCH = 1_000  # sizes from 250 to 10,000 differ in speed only by chance

Load = Callable[[Any, Path], object]
LOADS = ("first load", "1 % changed")


def main(arguments: list[str]) -> None:
    options = read_options("compared", arguments, rows=size(100_000, smoke=500))
    with own_database(), upload_folder() as folder:
        paths = [folder / "first.csv", folder / "second.csv"]
        files.write_products(paths[0], options.rows)
        files.write_products(paths[1], options.rows, changed_every=100)
        results = {name: measure(name, options.rows, loads, paths) for name, loads in contenders().items()}
    if len({digest for _, digest in results.values()}) != 1:
        sys.exit(f"The contenders left different rows: {results}")
    (ours, _), *_ = results.values()
    for name, (seconds, _) in [*results.items()][1:]:
        for load_name, theirs, our in zip(LOADS, seconds, ours, strict=True):
            show(f"{load_name}: time of {name} / of the import", theirs / our, digits=1)


def contenders() -> dict[str, tuple[Load, Load]]:
    """Return the functions for the first and for the second load of each contender. The import is first."""
    loads: dict[str, tuple[Load, Load]] = {"the import": (by_import, by_import)}
    try:
        import import_export  # noqa: F401 - an optional package
    except ImportError:
        print("  django-import-export is left out, because it is not installed: `make bench` installs it, or")
        print("  `pip install -r requirements/bench.txt`.")
    else:
        loads["django-import-export"] = partial(by_resource, False), partial(by_resource, True)
    return {**loads, "bulk_create upserts": (by_bulk_create, by_bulk_create)}


def measure(
    name: str, rows: int, loads: tuple[Load, Load], paths: list[Path]
) -> tuple[list[float], tuple[Any, ...]]:
    """Return the seconds of each load, and a digest of the rows after the second load."""
    supplier, seconds = Supplier.objects.create(name=name), []
    for load_name, load, path in zip(LOADS, loads, paths, strict=True):
        execute("VACUUM ANALYZE catalog_variant")
        with timed(f"{name}: {load_name}", rows) as clock:
            load(supplier, path)
        seconds.append(clock.seconds)
    variants = Variant.objects.for_supplier(supplier)
    totals = [Sum("retail_price"), Sum("wholesale_price"), Sum("weight"), Count("title", distinct=True)]
    return seconds, tuple(variants.aggregate(Count("pk"), *totals).values())


def by_import(supplier: Any, path: Path) -> None:
    run_import(supplier, "products", path, "of which the job", 0)


def by_resource(again: bool, supplier: Any, path: Path) -> None:
    """Load with django-import-export. With `again`, most rows are unchanged, so skip unchanged rows."""
    # An optional package: the other contenders run without it.
    from import_export.instance_loaders import CachedInstanceLoader
    from import_export.resources import ModelResource
    from tablib import Dataset

    lean = lean_variant()

    class Resource(ModelResource):  # type: ignore[misc] # it has no types
        """The import of one supplier's variants."""

        class Meta:
            model = lean
            fields = COLUMNS
            import_id_fields = ("sku",)
            instance_loader_class = CachedInstanceLoader
            use_bulk = True
            batch_size = BATCH
            skip_diff = not again
            skip_html_diff = True
            skip_unchanged = again
            report_skipped = False
            use_transactions = True

        def get_queryset(self) -> Any:
            return lean.objects.filter(supplier_id=supplier.pk)

        def init_instance(self, row: Any = None) -> Any:
            return lean(supplier_id=supplier.pk)

    with path.open(encoding="utf-8", newline="") as file:
        result = Resource().import_data(Dataset().load(file, format="csv"), raise_errors=True)
    assert not result.has_errors()


def by_bulk_create(supplier: Any, path: Path) -> None:
    lean = lean_variant()
    changes = [*(field for field in COLUMNS if field != "sku"), "updated_at"]
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        while batch := list(islice(rows, BATCH)):
            lean.objects.bulk_create(
                [lean(supplier_id=supplier.pk, **dict(_typed(row))) for row in batch],
                update_conflicts=True,
                unique_fields=["supplier_id", "sku"],
                update_fields=changes,
            )


def _typed(row: dict[str, str]) -> Iterator[tuple[str, Any]]:
    return ((name, Decimal(cell) if name in NUMERIC else cell) for name, cell in row.items())


@cache
def lean_variant() -> Any:
    """Return a model of the table of variants with only the file's columns.

    Without the other columns, Django sends the rows as arrays, which is much faster. This function gives the
    other columns a default in the bench's database.
    """
    meta: Any = Variant._meta
    fields: dict[str, Any] = {name: meta.get_field(name).clone() for name in COLUMNS}

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
