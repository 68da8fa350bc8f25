"""Large orders beside small ones, and everybody after one variant beside everybody after another.

What many lines cost must grow no faster than their number, and stock that all want must not make a queue
of all that an order is.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from statistics import median

from django.db import connection
from django.test import Client

from tools.bench.database import own_database
from tools.bench.measuring import at_least, ratio
from tools.bench.serving import market
from tools.bench.serving.asking import Asked, push
from tools.bench.serving.load import MARK, clients
from tools.bench.serving.market import PARTIES, Secrets, execute
from tools.bench.serving.rounds import Target, in_turn, rate, share
from tools.bench.serving.service import running_service

LARGE, SMALL = 1_000, 40
MOST_TIMES = LARGE // SMALL
CLIENTS = 8
TRIES = 5
_numbers = count(800_000_000)


def main(arguments: list[str]) -> None:
    logging.disable(logging.INFO)  # a line for each request would stand between our own
    with own_database():
        secrets = market.open_market()
        execute("VACUUM ANALYZE")
        with clients() as pool, running_service() as service:
            one_variant(pool, service.port, secrets)
        lines(secrets)
        wide(secrets, scarce=False)
        wide(secrets, scarce=True)


def one_variant(pool: ProcessPoolExecutor, port: int, secrets: Secrets) -> None:
    """Eight retailers, all with orders of one line: for one variant, or for one of 400."""
    wanted = {"one": ["S1-000001"] * 400, "many": [f"S1-{number:06d}" for number in range(1, 401)]}
    targets = {
        name: Target(
            port,
            [
                push(number % PARTIES + 1, secrets.retailers[number % PARTIES + 1], [sku]).real_bytes()
                for number, sku in enumerate(skus)
            ],
        )
        for name, skus in wanted.items()
    }
    found = in_turn(pool, targets, connections=CLIENTS)
    rates = f"{rate(found['one']):8.1f} {rate(found['many']):8.1f}"
    print(f"  {'orders/s: all for one variant, for 400':<66} {rates}")
    at_least("  one variant / 400", share(found["one"], found["many"]), 0.6)


def lines(secrets: Secrets) -> None:
    """An order of a thousand lines is pushed, accepted, shipped; another one refused; a third canceled."""
    times: dict[str, dict[int, list[float]]] = {}
    for _ in range(TRIES):
        for number in (SMALL, LARGE):
            for step, seconds in story(secrets, number).items():
                times.setdefault(step, {}).setdefault(number, []).append(seconds)
    for step, found in times.items():
        large, small = median(found[LARGE]), median(found[SMALL])
        print(f"  {f'{step}, ms: {LARGE} lines, {SMALL}':<66} {large * 1000:8.1f} {small * 1000:8.1f}")
        ratio(f"  {step}: {LARGE} lines / {SMALL}", large, small, MOST_TIMES)


def story(secrets: Secrets, number: int) -> dict[str, float]:
    """Seconds of each step; three orders of so many lines, all at one supplier."""
    found: dict[str, float] = {}
    asked = push(1, secrets.retailers[1], [f"S1-{line:06d}" for line in range(1, number + 1)])
    first, second, third = (_pushed(found, asked) for _ in range(3))
    key = secrets.suppliers[1]
    for status, body in (("accepted", {}), ("shipped", {"tracking_number": "T-1"})):
        _put(found, status, _path(first, status), body, key)
    _put(found, "out_of_stock", _path(second, "out_of_stock"), {}, key)
    _refill()
    cancel = Asked("POST", f"/v3/retailers/1/orders/{third}/cancel", "", secrets.retailers[1], b"{}")
    found["cancel"] = _timed(lambda: _ask(cancel))
    _put(found, "cancelation approved", _path(third, "canceled"), {}, key)
    return found


def _refill() -> None:
    """What was refused has none left; the next order wants some."""
    execute("UPDATE inventory_stocklevel SET on_hand = 1000000000")


def _pushed(found: dict[str, float], asked: Asked) -> int:
    body = asked.body.replace(MARK, b"%012d" % next(_numbers))
    asked = Asked(asked.method, asked.path, asked.bare, asked.secret, body)
    answers = []
    found["push"] = _timed(lambda: answers.append(_ask(asked)))
    order: int = answers[0]["order_id"]
    return order


def _path(order_id: int, status: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM fulfillments_fulfillment WHERE order_id = %s", [order_id])
        [(fulfillment_id,)] = cursor.fetchall()
    return f"/v3/suppliers/1/fulfillments/{fulfillment_id}/setStatus/{status}"


def _put(found: dict[str, float], step: str, path: str, body: dict[str, str], key: str) -> None:
    found[step] = _timed(lambda: _ask(Asked("PUT", path, "", key, json.dumps(body).encode())))


def _ask(asked: Asked) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {asked.secret}", "Host": "127.0.0.1"}
    response = Client().generic(asked.method, asked.path, asked.body, "application/json", headers=headers)
    assert response.status_code < 300, response.content[:1000]
    answer: dict[str, int] = response.json()
    return answer


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# 50 suppliers, each with five warehouses, have 100 things; each of them has a few pieces here and there.
WIDE = """
    SELECT setseed(0.7);
    WITH supplier AS (
        INSERT INTO accounts_supplier (name, priority, safety_stock)
        SELECT %(name)s || ' ' || n, 100, 0 FROM generate_series(1, 50) n RETURNING id
    ), warehouse AS (
        INSERT INTO inventory_warehouse (supplier_id, name, is_default)
        SELECT id, 'W' || n, n = 1 FROM supplier, generate_series(1, 5) n RETURNING id, supplier_id
    ), partner AS (
        INSERT INTO accounts_partnership (retailer_id, supplier_id, retailer_erp_id, retailer_shipper_account,
            service_types, is_active, refuse_short_orders, cancelation_default)
        SELECT 1, id, '', '', '{ecommerce}', true, false, 'wait' FROM supplier
    ), variant AS (
        INSERT INTO catalog_variant (supplier_id, sku, model, title, description, description_extra,
            description_bullets, upc, ean, gtin, id_in_source, images, retail_price, wholesale_price,
            options, properties, listed)
        SELECT id, %(name)s || n, 'M', 'Thing ' || n, '', '', '{}', %(name)s || n, '', '', '', '', 19.99,
            5 + (random() * 500)::int / 100.0, '[]', '[]', true
        FROM supplier, generate_series(1, 100) n RETURNING id, supplier_id
    )
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved)
    SELECT v.id, w.id, CASE WHEN random() < %(chance)s THEN 1 + (random() * 4)::int ELSE 0 END, 0
    FROM variant v JOIN warehouse w USING (supplier_id);
"""


def wide(secrets: Secrets, *, scarce: bool) -> None:
    """100 lines that 50 suppliers of five warehouses have: CPU of the whole push, and time under locks."""
    name = "SCARCE" if scarce else "AMPLE"
    with connection.cursor() as cursor:
        cursor.execute(WIDE, {"name": name, "chance": 0.01 if scarce else 0.9})
    execute("VACUUM ANALYZE")
    asked = push(1, secrets.retailers[1], [])
    line = {"quantity": 5, "billed_amount": 19.99}
    body = {**json.loads(asked.body), "retailer_order_id": f"B-{name}"}
    body["order_lines"] = [{"upc": f"{name}{number}", **line} for number in range(1, 101)]
    took: list[float] = []

    def watched(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if sql.lstrip().startswith("WITH wanted") or "FOR UPDATE" in sql and "stocklevel" in sql:
            took.append(time.perf_counter())
        return execute(sql, *rest)

    began, cpu = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(watched):
        _ask(Asked("POST", asked.path, asked.bare, asked.secret, json.dumps(body).encode()))
    ended, cpu = time.perf_counter(), time.process_time() - cpu
    print(f"  100 lines × 50 suppliers × 5 warehouses, {name.lower()}: {ended - began:.2f} s, locks taken")
    print(f"    {len(took)} times, the first {ended - took[0]:.2f} s before the end")
    ratio("  CPU seconds of the push", cpu, 1, 1.5)
    ratio("  time under locks / all of it", ended - took[0], ended - began, 0.2)
