"""Imports of product and stock files, beside a hand-written limit that is measured in the same run.

The limit is a `COPY` of the file into an unlogged table, plus one `INSERT … ON CONFLICT DO UPDATE` of all
rows into a table with the same columns and indexes, without any checks. A second limit also has the table's
foreign keys and triggers. The second limit shows how much of an import's time the database needs to write the
rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection

from accounts.actors import Actor
from accounts.models import Supplier
from imports.models import ImportJob, Status
from imports.pipeline.job_runner import run_job
from imports.services import start_import
from inventory.models import Warehouse
from sftp_ingest.area import contents
from tools.bench import files
from tools.bench.database import execute, own_database
from tools.bench.measuring import at_most, show, timed
from tools.bench.options import read_options
from tools.bench.sizes import size

STOCK_FILE = {"id_field": "sku", "amount_field": "quantity", "id_type": "sku", "mode": "delta"}
NUMERIC = {"retail_price", "wholesale_price", "weight"}
COLUMNS = files.HEADER.split(",")
VALUES = [f"coalesce({c}, '0')::numeric" if c in NUMERIC else f"coalesce({c}, '')" for c in COLUMNS]
CHANGES = [f"{c} = excluded.{c}" for c in COLUMNS if c != "sku"]


class Limit(NamedTuple):
    """A table, the columns of its file, and the statement that moves the copied file into the table."""

    table: str
    columns: list[str]
    move: str


PRODUCTS = Limit(
    "catalog_variant",
    COLUMNS,
    f"""INSERT INTO {{table}} (supplier_id, {", ".join(COLUMNS)},
        description_bullets, gtin, options, properties, listed)
    SELECT {{supplier}}, {", ".join(VALUES)}, '{{{{}}}}', '', '[]', '[]', true FROM copied
    ON CONFLICT (supplier_id, sku) DO UPDATE SET {", ".join(CHANGES)}, updated_at = now()""",
)
STOCK = Limit(
    "inventory_stocklevel",
    ["sku", "quantity"],
    """INSERT INTO {table} (variant_id, warehouse_id, on_hand, reserved)
    SELECT v.id, {warehouse}, quantity::int, 0 FROM copied c
    JOIN catalog_variant v ON v.supplier_id = {supplier} AND v.sku = c.sku
    ON CONFLICT (variant_id, warehouse_id) DO UPDATE SET on_hand = excluded.on_hand, updated_at = now()""",
)


def main(arguments: list[str]) -> None:
    options = read_options("imports", arguments, rows=size(1_000_000, smoke=500))
    rows = options.rows
    with own_database(), upload_folder() as folder:
        first, second = folder / "first.csv", folder / "second.csv"
        files.write_products(first, rows)
        files.write_products(second, rows, changed_every=100)
        print(f"  {rows:,} rows, {first.stat().st_size / 1e6:,.0f} MB", flush=True)
        supplier = Supplier.objects.create(name="Bench")
        warehouse = Warehouse.objects.create(supplier=supplier, name="Only", is_default=True)
        parties = {"supplier": supplier.pk, "warehouse": warehouse.pk}

        limit, again = measure_limits("products", PRODUCTS, first, second, rows, parties)
        loaded = run_import(supplier, "products", first, "import: first load", rows)
        changed = run_import(supplier, "products", second, "import: 1 % changed", rows)
        at_most("first load / limit", loaded / limit, 1.25)
        at_most("1 % changed / limit of a first load", changed / limit, 0.35)
        at_most("1 % changed / limit with all rows there", changed / again, 0.35)

        files.write_stock(first, rows)
        files.write_stock(second, rows, add=1)
        limit, again = measure_limits("stock", STOCK, first, second, rows, parties)
        stock = {**STOCK_FILE, "warehouse_id": warehouse.pk}
        counted = run_import(supplier, "inventory", first, "import: stock, first load", rows, stock)
        full = {**stock, "mode": "full"}
        same = run_import(
            supplier, "inventory", first, "import: stock, full file without a change", rows, full
        )
        moved = run_import(supplier, "inventory", second, "import: stock, all counts moved", rows, stock)
        at_most("stock, first load / limit", counted / limit, 1.25)
        at_most("stock, full file, no change / limit of a first load", same / limit, 0.5)
        at_most("stock, all counts moved / limit with all rows there", moved / again, 1.25)


@contextmanager
def upload_folder() -> Iterator[Path]:
    """Make a folder for files, with the folder of the upload areas in it."""
    with tempfile.TemporaryDirectory() as folder:
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        yield Path(folder)


def measure_limits(
    name: str, limit: Limit, first: Path, second: Path, rows: int, parties: dict[str, int]
) -> tuple[float, float]:
    """Return the seconds of a load into an empty table, and of a load into a table that has all rows."""
    plain, real = table_like(limit.table, real=False), table_like(limit.table, real=True)
    runs = [
        (f"limit of {name}: COPY and upsert, first load", plain, first),
        (f"limit of {name}: COPY and upsert, all rows there", plain, second),
        (f"limit of {name} with foreign keys and triggers, first load", real, first),
    ]
    seconds = []
    for label, table, path in runs:
        execute("DROP TABLE IF EXISTS copied")
        with timed(label, rows) as clock:
            execute(f"CREATE UNLOGGED TABLE copied ({', '.join(f'{c} text' for c in limit.columns)})")
            _copy(path)
            execute(limit.move.format(table=table, **parties))
        seconds.append(clock.seconds)
    show("the same limit with foreign keys and triggers / limit", seconds[2] / seconds[0])
    return seconds[0], seconds[1]


def table_like(table: str, *, real: bool) -> str:
    """Make a table with the same columns and indexes; with `real`, also with foreign keys and triggers."""
    name = f"real_{table}" if real else f"limit_{table}"
    execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)")
    if not real:
        execute(f"ALTER TABLE {name} ALTER changed_in SET DEFAULT 0")
        return name
    keys = (
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = %s::regclass"
    )
    for (key,) in execute(keys, [table]):
        execute(f"ALTER TABLE {name} ADD {key}")
    triggers = (
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = %s::regclass"
    )
    for (trigger,) in execute(triggers, [table]):
        execute(trigger.replace(f" ON public.{table} ", f" ON {name} "))
    return name


def _copy(path: Path) -> None:
    statement = "COPY copied FROM STDIN (FORMAT csv, HEADER)"
    with connection.cursor() as cursor, path.open("rb") as file, cursor.copy(statement) as into:
        while chunk := file.read(1024**2):
            into.write(chunk)


def queued_job(supplier: Any, kind: str, path: Path, options: dict[str, object] | None = None) -> int:
    """Start a job for a file, as the API does, and return its id."""
    with path.open("rb") as file:
        blob = contents.write(iter(partial(file.read, contents.CHUNK_SIZE), b""))
    given = options or {"field_mapping": [], "math_transformer": ""}
    by = Actor.system("bench")
    return start_import(supplier, kind, source=path.name, blob=blob, options=given, by=by).pk


def run_import(
    supplier: Any, kind: str, path: Path, label: str, rows: int, options: dict[str, object] | None = None
) -> float:
    """Start a job for a file and run it. Return the seconds from the start to the end of the job."""
    with timed(label, rows) as clock:
        pk = queued_job(supplier, kind, path, options)
        run_job(pk)
    job: Any = ImportJob.objects.get(pk=pk)
    if job.status != Status.SUCCEEDED:
        raise SystemExit(f"{label}: {job.status} {job.error} {list(job.rejects.values()[:3])}")
    return clock.seconds
