"""Imports of product and stock files, beside a hand-written limit that is measured in the same run.

The limit is a `COPY` of the file into an unlogged table, plus one `INSERT … ON CONFLICT DO UPDATE` of all
rows into a table with the same columns and indexes, without any checks. A second limit has the table's
foreign keys and triggers, too: it shows the cost of a row before any import does anything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

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
from tools.bench.database import own_database
from tools.bench.measuring import bare, ratio, timed
from tools.bench.options import read_options
from tools.bench.sizes import size

STAGED = files.HEADER.split(",")
NUMERIC = {"retail_price", "wholesale_price", "weight"}


def main(arguments: list[str]) -> None:
    options = read_options("imports", arguments, rows=size(1_000_000, smoke=500))
    with tempfile.TemporaryDirectory() as folder, own_database():
        settings.UPLOADS_DIR = Path(folder) / "uploads"
        settings.UPLOADS_DIR.mkdir()
        measure(Path(folder), options.rows)


def measure(folder: Path, rows: int) -> None:
    supplier = Supplier.objects.create(name="Bench")
    warehouse = Warehouse.objects.create(supplier=supplier, name="Only", is_default=True)
    first, second = folder / "first.csv", folder / "second.csv"
    files.write_products(first, rows)
    files.write_products(second, rows, changed_every=100)
    print(f"  {rows:,} rows, {first.stat().st_size / 1e6:,.0f} MB", flush=True)

    limit = products_limit(supplier.pk, first, "limit: COPY and upsert, first load", rows)
    again = products_limit(supplier.pk, second, "limit: COPY and upsert, all rows there", rows)
    bound = products_limit(
        supplier.pk, first, "limit with foreign keys and triggers, first load", rows, real=True
    )
    loaded = run_import(supplier, "products", first, "import: first load", rows)
    changed = run_import(supplier, "products", second, "import: 1 % changed", rows)
    ratio("first load / limit", loaded, limit, 1.25)
    bare("the same limit with foreign keys and triggers / limit", bound, limit)
    bare("first load / limit with foreign keys and triggers", loaded, bound)
    ratio("1 % changed / limit of a first load", changed, limit, 0.35)
    ratio("1 % changed / limit with all rows there", changed, again, 0.35)
    measure_stock(supplier, warehouse.pk, folder, rows)
    memory(folder, rows)


def measure_stock(supplier: Any, warehouse_id: int, folder: Path, rows: int) -> None:
    first, second = folder / "stock.csv", folder / "stock-moved.csv"
    files.write_stock(first, rows)
    files.write_stock(second, rows, add=1)
    parties = supplier.pk, warehouse_id
    limit = stock_limit(*parties, first, "limit: COPY and upsert of stock, first load", rows)
    again = stock_limit(*parties, second, "limit: COPY and upsert of stock, all rows there", rows)
    bound = stock_limit(*parties, first, "limit with foreign keys and triggers, first load", rows, real=True)
    options = {
        "id_field": "sku",
        "amount_field": "quantity",
        "id_type": "sku",
        "warehouse_id": warehouse_id,
        "mode": "delta",
    }
    counted = run_import(supplier, "inventory", first, "import: stock, first load", rows, options)
    run_import(supplier, "inventory", first, "import: stock, unchanged", rows, options)
    moved = run_import(supplier, "inventory", second, "import: stock, all counts moved", rows, options)
    ratio("stock, first load / limit", counted, limit, 1.25)
    bare("the same limit with foreign keys and triggers / limit", bound, limit)
    bare("stock, first load / limit with foreign keys and triggers", counted, bound)
    ratio("stock, all counts moved / limit with all rows there", moved, again, 1.25)


def products_limit(supplier_id: int, path: Path, label: str, rows: int, *, real: bool = False) -> float:
    columns = ", ".join(STAGED)
    values = ", ".join(
        f"coalesce({c}, '0')::numeric" if c in NUMERIC else f"coalesce({c}, '')" for c in STAGED
    )
    changes = ", ".join(f"{c} = excluded.{c}" for c in STAGED if c != "sku")
    table = like("catalog_variant", real=real)
    execute("DROP TABLE IF EXISTS limit_staged")
    with timed(label, rows) as clock:
        execute(f"CREATE UNLOGGED TABLE limit_staged ({', '.join(f'{c} text' for c in STAGED)})")
        copy("limit_staged", path)
        execute(
            f"INSERT INTO {table} (supplier_id, {columns},"
            " description_bullets, gtin, options, properties, listed)"
            f" SELECT {supplier_id}, {values}, '{{}}', '', '[]', '[]', true FROM limit_staged"
            f" ON CONFLICT (supplier_id, sku) DO UPDATE SET {changes}, updated_at = now()"
        )
    return clock.seconds


def stock_limit(
    supplier_id: int, warehouse_id: int, path: Path, label: str, rows: int, *, real: bool = False
) -> float:
    table = like("inventory_stocklevel", real=real)
    execute("DROP TABLE IF EXISTS limit_counted")
    with timed(label, rows) as clock:
        execute("CREATE UNLOGGED TABLE limit_counted (sku text, quantity text)")
        copy("limit_counted", path)
        execute(
            f"INSERT INTO {table} (variant_id, warehouse_id, on_hand, reserved)"
            f" SELECT v.id, {warehouse_id}, quantity::int, 0 FROM limit_counted c"
            f" JOIN catalog_variant v ON v.supplier_id = {supplier_id} AND v.sku = c.sku"
            " ON CONFLICT (variant_id, warehouse_id)"
            " DO UPDATE SET on_hand = excluded.on_hand, updated_at = now()"
        )
    return clock.seconds


def like(table: str, *, real: bool) -> str:
    """Make a table with the same columns and indexes; with `real`, also with foreign keys and triggers."""
    name = f"real_{table}" if real else f"limit_{table}"
    execute(f"CREATE TABLE IF NOT EXISTS {name} (LIKE {table} INCLUDING ALL)")
    if not real:
        execute(f"ALTER TABLE {name} ALTER changed_in SET DEFAULT 0")
        return name
    for (key,) in execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        f" WHERE contype = 'f' AND conrelid = '{table}'::regclass"
    ):
        execute(f"ALTER TABLE {name} ADD {key}")
    for (trigger,) in execute(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger"
        f" WHERE NOT tgisinternal AND tgrelid = '{table}'::regclass"
    ):
        execute(trigger.replace(f" ON public.{table} ", f" ON {name} "))
    return name


def start(supplier: Any, kind: str, path: Path, options: dict[str, object] | None) -> int:
    """Start a job for a file, as the API does."""
    with path.open("rb") as file:
        blob = contents.write(iter(partial(file.read, contents.CHUNK_SIZE), b""))
    return start_import(
        supplier,
        kind,
        source=path.name,
        blob=blob,
        options=options or {"field_mapping": [], "math_transformer": ""},
        by=Actor.system("bench"),
    ).pk


def run_import(
    supplier: Any, kind: str, path: Path, label: str, rows: int, options: dict[str, object] | None = None
) -> float:
    """Run a job and return its seconds, from the job's row to its end."""
    with timed(label, rows) as clock:
        pk = start(supplier, kind, path, options)
        run_job(pk)
    require_success(ImportJob.objects.get(pk=pk), label)
    return clock.seconds


def require_success(job: Any, label: str) -> None:
    if job.status != Status.SUCCEEDED:
        raise SystemExit(f"{label}: {job.status} {job.error} {list(job.rejects.values()[:3])}")


def memory(folder: Path, rows: int) -> None:
    """Print the peak memory of a worker process that runs one job."""
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**connection.settings_dict)
    environment = {**os.environ, "DATABASE_URL": url, "UPLOADS_DIR": str(settings.UPLOADS_DIR)}
    peaks = []
    for count in (size(10_000, smoke=200), rows):
        path = folder / f"memory-{count}.csv"
        files.write_products(path, count)
        supplier = Supplier.objects.create(name=f"Memory {count}")
        pk = start(supplier, "products", path, None)
        command = [sys.executable, "-m", "tools.bench.worker", str(pk)]
        worker = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        require_success(ImportJob.objects.get(pk=pk), "memory")
        peaks.append(float(worker.stdout))
        print(f"  {f'peak memory of a worker, {count:,} rows':<66} {peaks[-1]:8.1f} MiB", flush=True)
    ratio("peak memory: many rows / few rows", peaks[1], peaks[0], 1.1)


def execute(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall() if cursor.description else []


def copy(table: str, path: Path) -> None:
    statement = f"COPY {table} FROM STDIN (FORMAT csv, HEADER)"
    with connection.cursor() as cursor, path.open("rb") as file, cursor.copy(statement) as into:
        while chunk := file.read(1024**2):
            into.write(chunk)
