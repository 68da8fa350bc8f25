"""The allocation of arrived stock to backorders, order by order, the oldest order first (contract 13).

Each arrival of stock calls `allocate` after its commit, and a periodic task finds missed arrivals. The result
does not depend on the time or the caller, because each order takes only the stock that older orders leave
(`fulfillments.stock_for_backorders`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from time import monotonic

from django.db import DatabaseError, connection, transaction

from accounts.actors import Actor
from api.errors import ApiError
from fastdb import leased
from fastdb.rows import rows_of
from fulfillments.allocating_arrivals import allocate_arrivals
from fulfillments.planning.candidates import WaitingLine
from fulfillments.stock_for_backorders import short_lines, stock_rows_for, wants_of
from fulfillments.stock_queue import ROUTED_ORDER, UNROUTED_AFTER
from inventory.reservations import StockKey
from orders.models import Order
from orders.unrouted_lines import has_waiting_lines, lines_sql

logger = logging.getLogger(__name__)

# The task is called by its name, because the task's module imports this module.
ALLOCATE_TASK = "orders.tasks.serve_waiting"
AT_ONCE = 2.0
"""The caller allocates for this many seconds. Then a worker continues."""
PAGE = 500

STOCKED = """
    SELECT s.variant_id, s.warehouse_id, s.on_hand - s.reserved - u.safety_stock AS available
    FROM inventory_stocklevel s JOIN inventory_warehouse w ON w.id = s.warehouse_id
    JOIN accounts_supplier u ON u.id = w.supplier_id WHERE s.on_hand - s.reserved > u.safety_stock
"""
# Read only orders for which older orders leave stock. If thousands of orders wait for a few units, most of
# them cannot get stock.
ROUTED = f"""
    SELECT DISTINCT order_id FROM (
        SELECT f.order_id, k.available,
               sum(p.short) OVER (
                   PARTITION BY p.variant_id, f.warehouse_id ORDER BY {ROUTED_ORDER}
               ) - p.short AS before
        FROM ({short_lines("(%(variants)s::bigint[] IS NULL OR variant_id = ANY(%(variants)s))")}) p
        JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
        JOIN ({STOCKED}) k ON k.variant_id = p.variant_id AND k.warehouse_id = f.warehouse_id
    ) queue
    WHERE before < available AND order_id > %(last)s ORDER BY order_id LIMIT {PAGE}
"""  # noqa: S608 - built from constants
UNROUTED = f"""
    SELECT * FROM ({
    lines_sql(f'''
        (%(variants)s::bigint[] IS NULL OR v.id = ANY(%(variants)s))
        AND {UNROUTED_AFTER}
        AND EXISTS (SELECT FROM ({STOCKED}) k WHERE k.variant_id = v.id)
    ''')
}) lines LIMIT {PAGE}
"""  # noqa: S608 - built from constants
LEVELS = f"SELECT * FROM ({STOCKED}) k WHERE variant_id = ANY(%s)"  # noqa: S608 - built from constants


def allocate(variant_ids: Collection[int] | None) -> None:
    """Allocate stock of these variants to backorders for AT_ONCE seconds. Then a worker continues.

    If `variant_ids` is None, a worker allocates the stock of all variants, for example after a stock file.
    """
    if variant_ids is None or not allocate_all(variant_ids, seconds=AT_ONCE):
        _wake()


def allocate_all(variant_ids: Collection[int] | None, *, seconds: float) -> bool:
    """Allocate stock of these variants, or of all variants. Return False if work is left.

    Each order is one transaction. An order that another transaction is changing is skipped: newer orders
    leave the stock for the skipped order, and the next run finds the order.
    """
    if variant_ids is not None and not has_waiting_lines(variant_ids):
        return True
    end = monotonic() + seconds
    done = True
    # Try the routed orders again at the end: fulfillment lines with the flag `behind` get stock only after
    # unrouted lines.
    for orders in (_routed, _unrouted, _routed):
        for order_id in orders(variant_ids):
            if monotonic() > end:
                return False
            done = _allocate_to(order_id) is not None and done
    return done


def _routed(variant_ids: Collection[int] | None) -> Iterator[int]:
    """Yield orders with short units at a warehouse that has stock, the oldest order first.

    A page of orders that get nothing, for example because they are locked, does not hide later orders.
    """
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(ROUTED, {"variants": _array(variant_ids), "last": last})
            orders = [order_id for (order_id,) in cursor.fetchall()]
        if not orders:
            return
        yield from orders
        last = orders[-1]


def _unrouted(variant_ids: Collection[int] | None) -> Iterator[int]:
    """Yield orders with unrouted lines for which a partner now has stock."""
    last = (0, 0)
    while True:
        params = {"variants": _array(variant_ids), "order": last[0], "line": last[1]}
        with connection.cursor() as cursor:
            cursor.execute(UNROUTED, params)
            lines = rows_of(cursor, WaitingLine)
        if not lines:
            return
        yield from _fillable(lines)
        last = lines[-1].order_id, lines[-1].id


def _fillable(lines: list[WaitingLine]) -> Iterator[int]:
    """Yield the orders whose lines can get stock. Each line can get only stock that earlier lines leave."""
    wants = wants_of(lines)
    variants = {candidate.variant_id for want in wants for candidate in want.candidates}
    left: dict[StockKey, int] = {}
    rows: dict[int, list[StockKey]] = {}
    with connection.cursor() as cursor:
        cursor.execute(LEVELS, [[*variants]])
        for variant, warehouse, available in cursor.fetchall():
            left[variant, warehouse] = available
            rows.setdefault(variant, []).append((variant, warehouse))
    orders = {line.id: line.order_id for line in lines}
    fillable: set[int] = set()
    for want in wants:
        missing = want.quantity
        for key in stock_rows_for(want, rows):
            taken = min(left[key], missing)
            left[key] -= taken
            missing -= taken
        if missing < want.quantity:
            fillable.add(orders[want.line])
    yield from sorted(fillable)


def _array(variant_ids: Collection[int] | None) -> list[int] | None:
    return None if variant_ids is None else [*variant_ids]


def _allocate_to(order_id: int) -> int | None:
    """Allocate stock to one order. Return the number of units, or None if the order must be tried again."""
    try:
        with transaction.atomic():
            free = Order.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=order_id)
            order = free.first()
            if order is None:
                return None
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
            with order.change(by=Actor.system("stock arrived")) as change:
                return allocate_arrivals(change)
    except (ApiError, DatabaseError) as error:
        if not connection.is_usable():
            raise  # without a database, the other orders cannot get stock either
        logger.warning("order %s waits for the next run: %s", order_id, error)
        return None


def _wake() -> None:
    """Send a message that wakes a worker. If this message is lost, the periodic task does the work."""
    leased.wake(ALLOCATE_TASK)
