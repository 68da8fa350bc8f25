"""Pushes, captures and imports with 1, 2, 4, … processes, up to the cores of the machine.

Each step prints its rate, and the states of PostgreSQL's connections: *computing*, or the lock or file that
they wait for. If a curve bends, these waits name the reason. Clients, PostgreSQL and Redis use the same
cores, so each curve bends before the last core. The curves are also written as an SVG file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from threading import Event, Thread

import psycopg
from django.conf import settings

from accounts.models import Supplier
from tools.bench import files
from tools.bench.curves import draw
from tools.bench.database import database_url, own_database
from tools.bench.import_process import run, set_up
from tools.bench.imports import queued_job, upload_folder
from tools.bench.measuring import show
from tools.bench.options import read_options
from tools.bench.serving import market
from tools.bench.serving.byte_requests import get, push
from tools.bench.serving.load import drive
from tools.bench.serving.market import PARTIES, Secrets
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

CONNECTIONS = 4
"""The connections of clients for each process of the server."""
BETWEEN_SAMPLES = 0.05
WAITS = """
    SELECT CASE WHEN wait_event_type IS NULL THEN 'computing' ELSE wait_event_type || ' ' || wait_event END
    FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
"""


def main(arguments: list[str]) -> None:
    options = read_options(
        "cores",
        arguments,
        only=True,
        most=size(os.cpu_count() or 1, smoke=1),
        seconds=size(15, smoke=1),
        rows=size(200_000, smoke=200),
    )
    counts = steps(options.most)
    curves: dict[str, list[float]] = {}
    with own_database():
        secrets = market.open_market()
        market.grow(0, size(10_000, smoke=5_000))
        for name, requests in operations(secrets).items():
            if options.only in name:
                curves[name] = [serve(name, requests, processes, options.seconds) for processes in counts]
        if options.only in "import":
            curves["import"] = [load(processes, options.rows) for processes in counts]
    for name, rates in curves.items():
        for processes, rate in zip(counts, rates, strict=True):
            show(f"{name}, {in_words(processes)} / 1 process", rate / rates[0])
    path = settings.DATA_DIR / "bench" / "cores.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw("Rate by processes, as a multiple of one process", counts, curves))
    print(f"  curves: {path}")


def steps(most: int) -> list[int]:
    """Return the powers of two below `most`, and `most`."""
    return [*(2**power for power in range(most.bit_length()) if 2**power < most), most]


def in_words(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes} processes"


def operations(secrets: Secrets) -> dict[str, list[bytes]]:
    work = json.dumps({"retailer_state": "ordered", "fulfillment_state": "new"})
    return {
        "push": [
            push(party, secrets.retailers[party], [f"S{party}-{first + number:06d}" for number in range(3)])
            for first in range(1, 200, 3)
            for party in range(1, PARTIES + 1)
        ],
        "capture": [
            get(f"suppliers/{party}/fulfillments", secrets.suppliers[party], filter=work, limit="100")
            for party in range(1, PARTIES + 1)
        ],
    }


def serve(name: str, requests: list[bytes], processes: int, seconds: float) -> float:
    """Return the requests per second of a server with this many processes, and as many client processes."""
    with (
        running_service(workers=processes) as port,
        ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool,
    ):
        own_requests = [[*requests[7 * n :], *requests[: 7 * n]] for n in range(processes)]
        _drive_at_once(pool, port, own_requests, 1)  # warm up
        with sampled_waits() as waits:
            rate = _drive_at_once(pool, port, own_requests, seconds)
    return shown(f"{name}, {in_words(processes)}: requests/s", rate, waits)


def _drive_at_once(pool: Executor, port: int, own_requests: list[list[bytes]], seconds: float) -> float:
    tasks = [pool.submit(drive, port, requests, seconds, CONNECTIONS) for requests in own_requests]
    return sum(task.result().rate for task in tasks)


def load(processes: int, rows: int) -> float:
    """Return the rows per second of this many imports at once, each for another supplier."""
    with upload_folder() as folder:
        file = folder / "products.csv"
        files.write_products(file, rows)
        suppliers = [Supplier.objects.create(name=f"Cores {processes}-{n}") for n in range(processes)]
        jobs = [queued_job(supplier, "products", file) for supplier in suppliers]
        context = get_context("spawn")
        setting = database_url(), settings.UPLOADS_DIR, context.Barrier(processes)
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=set_up, initargs=setting)
        with pool, sampled_waits() as waits:
            spans = [*pool.map(run, jobs)]
    seconds = max(end for _, end in spans) - min(begin for begin, _ in spans)
    return shown(f"import, {in_words(processes)}: rows/s", processes * rows / seconds, waits)


def shown(label: str, rate: float, waits: Counter[str]) -> float:
    """Print a rate with the most frequent states of the connections, and return the rate."""
    samples = max(waits.total(), 1)
    common = ", ".join(f"{name} {number / samples:.0%}" for name, number in waits.most_common(3))
    show(label, rate, unit=f" {common}", digits=0)
    return rate


@contextmanager
def sampled_waits() -> Iterator[Counter[str]]:
    """Count the waits of the active connections of Django's database, several times a second."""
    waits, ended = Counter[str](), Event()

    def sample() -> None:
        with psycopg.connect(database_url(), autocommit=True) as raw:
            while not ended.wait(BETWEEN_SAMPLES):
                waits.update(wait for (wait,) in raw.execute(WAITS))

    thread = Thread(target=sample)
    thread.start()
    try:
        yield waits
    finally:
        ended.set()
        thread.join()
