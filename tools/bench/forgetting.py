"""What it costs to forget old events row by row: how long a window takes, and what writers notice of it."""

from __future__ import annotations

import threading
import time
from statistics import median
from typing import Any

from django.db import connection

from backoffice.retention import RULES, RetentionRule, _remove
from tools.bench.database import own_database
from tools.bench.measuring import timed
from tools.bench.options import read_options

OF_NO_ORDER = 10
"""One event of so many is of no order, as where suppliers push stock now and then; the others stay."""
FILL = """
    INSERT INTO events_event
        (number, type, area, occurred_at, order_id, actor, request_id, from_state, to_state, data)
    SELECT g, CASE WHEN of_none THEN 'inventory.updated' ELSE 'order.created' END,
        CASE WHEN of_none THEN 'inventory' ELSE 'orders' END,
        now() - interval '900 days' + g * interval '1 second', CASE WHEN of_none THEN NULL ELSE g END,
        'supplier:1', md5(g::text), '', '', '{"count": 20, "warehouse_id": 4}'
    FROM (SELECT g, g %% %(share)s = 0 AS of_none FROM generate_series(1, %(rows)s) g) AS numbered
"""
WRITE = (
    "INSERT INTO events_event (type, area, order_id, actor, request_id, from_state, to_state, data)"
    " VALUES ('order.created', 'orders', 1, 'supplier:1', '', '', '', '{}')"
)
SECONDS = 10.0


def main(arguments: list[str]) -> None:
    options = read_options("forgetting", arguments, rows=1_000_000)
    rule = next(each for each in RULES if each.setting == "EVENT_DAYS")
    with own_database():
        with timed(f"{options.rows:,} events, one of {OF_NO_ORDER} of no order", options.rows):
            ask(FILL, {"rows": options.rows, "share": OF_NO_ORDER})
            ask("VACUUM ANALYZE events_event")
        alone = written(threading.Event())
        beside, windows, gone = beside_forgetting(rule)
        said("a window of 20,000 rows, median and longest in s", median(windows), max(windows))
        said("rows removed a second", gone / sum(windows))
        said("events written a second, alone and beside it", alone, beside)


def beside_forgetting(rule: RetentionRule) -> tuple[float, list[float], int]:
    """What is written while window after window is removed, their seconds, and how many rows went."""
    stop = threading.Event()
    rates: list[float] = []
    writer = threading.Thread(target=lambda: rates.append(written(stop, seconds=3600.0)))
    writer.start()
    windows: list[float] = []
    gone = idle = 0
    while idle < 50:  # windows are chosen by chance
        began = time.perf_counter()
        removed = _remove(rule)
        windows.append(time.perf_counter() - began)
        gone += removed
        idle = 0 if removed else idle + 1
    stop.set()
    writer.join()
    return rates[0], windows, gone


def written(stop: threading.Event, seconds: float = SECONDS) -> float:
    """Events that one writer commits a second, each in a transaction of its own."""
    began, count = time.perf_counter(), 0
    while not stop.is_set() and time.perf_counter() - began < seconds:
        ask(WRITE)
        count += 1
    rate = count / (time.perf_counter() - began)
    if threading.current_thread() is not threading.main_thread():
        connection.close()
    return rate


def ask(statement: str, given: object = None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)  # type: ignore[arg-type]
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def said(label: str, *numbers: float) -> None:
    print(f"  {label:<66} {' '.join(f'{each:10,.2f}' for each in numbers)}", flush=True)
