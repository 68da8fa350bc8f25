"""Large orders beside small orders, and orders for one variant beside orders for many variants.

The cost of an order must grow no faster than its number of lines, and orders for the same stock row must not
wait for each other's whole push.
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
from tools.bench.serving.asking import BenchRequest, push
from tools.bench.serving.load import MARK, clients
from tools.bench.serving.market import PARTIES, Secrets, execute
from tools.bench.serving.rounds import LoadTarget, in_turn, rate, share
from tools.bench.serving.service import running_service
from tools.bench.sizes import size

LARGE, SMALL = size(1_000, smoke=80), 40
MOST_TIMES = LARGE // SMALL
CLIENTS = 8
TRIES = size(5, smoke=1)
_numbers = count(800_000_000)


def main(arguments: list[str]) -> None:
    logging.disable(logging.INFO)  # one log line per request would hide the results
    with own_database():
        secrets = market.open_market()
        execute("VACUUM ANALYZE")
        with clients() as pool, running_service() as service:
            one_variant(pool, service.port, secrets)
        lines(secrets)
        wide(secrets, scarce=False)
        wide(secrets, scarce=True)


def one_variant(pool: ProcessPoolExecutor, port: int, secrets: Secrets) -> None:
    """Push orders of one line from eight retailers: all for one variant, or each for one of 400 variants."""
    skus_of = {"one": ["S1-000001"] * 400, "many": [f"S1-{number:06d}" for number in range(1, 401)]}
    targets = {
        name: LoadTarget(
            port,
            [
                push(number % PARTIES + 1, secrets.retailers[number % PARTIES + 1], [sku]).real_bytes()
                for number, sku in enumerate(skus)
            ],
        )
        for name, skus in skus_of.items()
    }
    rounds = in_turn(pool, targets, connections=CLIENTS)
    rates = f"{rate(rounds['one']):8.1f} {rate(rounds['many']):8.1f}"
    print(f"  {'orders/s: all for one variant, for 400':<66} {rates}")
    at_least("  one variant / 400", share(rounds["one"], rounds["many"]), 0.6)


def lines(secrets: Secrets) -> None:
    """Push, accept and ship an order of a thousand lines; refuse a second order; cancel a third order."""
    times: dict[str, dict[int, list[float]]] = {}
    for _ in range(TRIES):
        for number in (SMALL, LARGE):
            for step, seconds in steps(secrets, number).items():
                times.setdefault(step, {}).setdefault(number, []).append(seconds)
    for step, seconds_of in times.items():
        large, small = median(seconds_of[LARGE]), median(seconds_of[SMALL])
        print(f"  {f'{step}, ms: {LARGE} lines, {SMALL}':<66} {large * 1000:8.1f} {small * 1000:8.1f}")
        ratio(f"  {step}: {LARGE} lines / {SMALL}", large, small, MOST_TIMES)


def steps(secrets: Secrets, number: int) -> dict[str, float]:
    """Return the seconds of each step. The three orders have this number of lines, all of one supplier."""
    seconds: dict[str, float] = {}
    request = push(1, secrets.retailers[1], [f"S1-{line:06d}" for line in range(1, number + 1)])
    first, second, third = (_pushed(seconds, request) for _ in range(3))
    key = secrets.suppliers[1]
    for status, body in (("accepted", {}), ("shipped", {"tracking_number": "T-1"})):
        _put(seconds, status, _path(first, status), body, key)
    _put(seconds, "out_of_stock", _path(second, "out_of_stock"), {}, key)
    _refill()
    cancel = BenchRequest("POST", f"/v3/retailers/1/orders/{third}/cancel", "", secrets.retailers[1], b"{}")
    seconds["cancel"] = _timed(lambda: _ask(cancel))
    _put(seconds, "cancelation approved", _path(third, "canceled"), {}, key)
    return seconds


def _refill() -> None:
    """Restock the refused variants for the next order: a refusal sets their stock to zero."""
    execute("UPDATE inventory_stocklevel SET on_hand = 1000000000")


def _pushed(seconds: dict[str, float], request: BenchRequest) -> int:
    body = request.body.replace(MARK, b"%012d" % next(_numbers))
    numbered = BenchRequest(request.method, request.path, request.bare, request.secret, body)
    answers = []
    seconds["push"] = _timed(lambda: answers.append(_ask(numbered)))
    order: int = answers[0]["order_id"]
    return order


def _path(order_id: int, status: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM fulfillments_fulfillment WHERE order_id = %s", [order_id])
        [(fulfillment_id,)] = cursor.fetchall()
    return f"/v3/suppliers/1/fulfillments/{fulfillment_id}/setStatus/{status}"


def _put(seconds: dict[str, float], step: str, path: str, body: dict[str, str], key: str) -> None:
    request = BenchRequest("PUT", path, "", key, json.dumps(body).encode())
    seconds[step] = _timed(lambda: _ask(request))


def _ask(request: BenchRequest) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {request.secret}", "Host": "127.0.0.1"}
    response = Client().generic(
        request.method, request.path, request.body, "application/json", headers=headers
    )
    assert response.status_code < 300, response.content[:1000]
    answer: dict[str, int] = response.json()
    return answer


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# 50 suppliers with five warehouses each offer the same 100 products; some stock rows hold a few units.
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
    """Push 100 lines that 50 suppliers offer from five warehouses each; measure CPU and time under locks."""
    name = "SCARCE" if scarce else "AMPLE"
    with connection.cursor() as cursor:
        cursor.execute(WIDE, {"name": name, "chance": 0.01 if scarce else 0.9})
    execute("VACUUM ANALYZE")
    empty = push(1, secrets.retailers[1], [])
    line = {"quantity": 5, "billed_amount": 19.99}
    body = {**json.loads(empty.body), "retailer_order_id": f"B-{name}"}
    body["order_lines"] = [{"upc": f"{name}{number}", **line} for number in range(1, 101)]
    locked: list[float] = []

    def watched(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if sql.lstrip().startswith("WITH wanted") or "FOR UPDATE" in sql and "stocklevel" in sql:
            locked.append(time.perf_counter())
        return execute(sql, *rest)

    began, cpu = time.perf_counter(), time.process_time()
    with connection.execute_wrapper(watched):
        _ask(BenchRequest("POST", empty.path, empty.bare, empty.secret, json.dumps(body).encode()))
    ended, cpu = time.perf_counter(), time.process_time() - cpu
    print(f"  100 lines × 50 suppliers × 5 warehouses, {name.lower()}: {ended - began:.2f} s, locks taken")
    print(f"    {len(locked)} times, the first {ended - locked[0]:.2f} s before the end")
    ratio("  CPU seconds of the push", cpu, 1, 1.5)
    ratio("  time under locks / whole push", ended - locked[0], ended - began, 0.2)
