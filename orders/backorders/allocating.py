"""Who is served when stock has arrived, one order after the other, the oldest first (contract 13).

Whatever brings stock calls `serve_waiting` after its commit, and a task looks for what was missed. When it is
done and by whom makes no difference to who gets what: each order takes no more than those before it leave
(`fulfillments.backorder_claims`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from time import monotonic

from celery import current_app
from django.db import DatabaseError, connection, transaction

from accounts.actors import Actor
from api.errors import ApiError
from fastdb.rows import rows_of
from fulfillments.allocating_arrivals import serve
from fulfillments.backorder_claims import sources, wants_of
from fulfillments.planning.candidates import WaitingLine
from inventory.reservations import StockKey
from orders.models import Order
from orders.unrouted_lines import anybody_waits, lines_sql

logger = logging.getLogger(__name__)

# By its name: the task's module imports this one.
SERVE_TASK = "orders.tasks.serve_waiting"
AT_ONCE = 2.0
"""Seconds that whoever brought stock spends on those who wait for it; the rest is done by a worker."""
PAGE = 500

STOCKED = """
    SELECT s.variant_id, s.warehouse_id, s.on_hand - s.reserved - u.safety_stock AS available
    FROM inventory_stocklevel s JOIN inventory_warehouse w ON w.id = s.warehouse_id
    JOIN accounts_supplier u ON u.id = w.supplier_id WHERE s.on_hand - s.reserved > u.safety_stock
"""
# Only those whom the older ones leave something: of thousands who wait, a few pieces serve a few.
ROUTED = f"""
    SELECT DISTINCT order_id FROM (
        SELECT f.order_id, k.available,
               sum(p.short) OVER (
                   PARTITION BY p.variant_id, f.warehouse_id ORDER BY p.behind, f.order_id, p.id
               ) - p.short AS before
        FROM (
            SELECT id, fulfillment_id, variant_id, behind,
                   quantity - shipped - rejected - canceled - reserved - cancel_requested AS short
            FROM fulfillments_fulfillmentline
            WHERE is_short AND (%(variants)s::bigint[] IS NULL OR variant_id = ANY(%(variants)s))
        ) p
        JOIN fulfillments_fulfillment f ON f.id = p.fulfillment_id
        JOIN ({STOCKED}) k ON k.variant_id = p.variant_id AND k.warehouse_id = f.warehouse_id
    ) queue
    WHERE before < available ORDER BY order_id LIMIT {PAGE}
"""  # noqa: S608 - of constants
UNPLACED = f"""
    SELECT * FROM ({
    lines_sql(f'''
        (%(variants)s::bigint[] IS NULL OR v.id = ANY(%(variants)s))
        AND (o.id, l.id) > (%(order)s, %(line)s)
        AND EXISTS (SELECT FROM ({STOCKED}) k WHERE k.variant_id = v.id)
    ''')
}) lines LIMIT {PAGE}
"""  # noqa: S608 - of constants
LEVELS = f"SELECT * FROM ({STOCKED}) k WHERE variant_id = ANY(%s)"  # noqa: S608 - of constants


def serve_waiting(variant_ids: Collection[int] | None) -> None:
    """Serve those who wait for these variants, as far as that is quickly done; a worker does the rest.

    None stands for all variants, as after a file: that is left to a worker.
    """
    if variant_ids is None or not serve_all(variant_ids, seconds=AT_ONCE):
        _wake()


def serve_all(variant_ids: Collection[int] | None, *, seconds: float) -> bool:
    """Serve whoever waits for one of these variants, or for any; return whether nobody is left.

    Orders that somebody else is changing are passed over: they keep what is theirs, and the next look finds
    them. Each is a transaction of its own.
    """
    if variant_ids is not None and not anybody_waits(variant_ids):
        return True
    end = monotonic() + seconds
    done = True
    for look in (_routed, _unplaced, _routed):  # some that are routed stand behind what no supplier has
        for order_id in look(variant_ids):
            if monotonic() > end:
                return False
            done = _serve(order_id) is not None and done
    return done


def _routed(variant_ids: Collection[int] | None) -> Iterator[int]:
    """Orders with short pieces that there is stock for where they are routed; until none gets any more."""
    tried: set[int] = set()
    while True:
        with connection.cursor() as cursor:
            cursor.execute(ROUTED, {"variants": _array(variant_ids)})
            found = [order_id for (order_id,) in cursor.fetchall() if order_id not in tried]
        if not found:
            return
        yield from found
        tried.update(found)


def _unplaced(variant_ids: Collection[int] | None) -> Iterator[int]:
    """Orders with lines that no supplier has, and that some partner has stock for now."""
    last = (0, 0)
    while True:
        params = {"variants": _array(variant_ids), "order": last[0], "line": last[1]}
        with connection.cursor() as cursor:
            cursor.execute(UNPLACED, params)
            lines = rows_of(cursor, WaitingLine)
        if not lines:
            return
        yield from _fillable(lines)
        last = lines[-1].order_id, lines[-1].id


def _fillable(lines: list[WaitingLine]) -> Iterator[int]:
    """The orders of those lines for which something is left when the older ones have taken theirs."""
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
    found: set[int] = set()
    for want in wants:
        missing = want.quantity
        for key in sources(want, rows):
            taken = min(left[key], missing)
            left[key] -= taken
            missing -= taken
        if missing < want.quantity:
            found.add(orders[want.line])
    yield from sorted(found)


def _array(variant_ids: Collection[int] | None) -> list[int] | None:
    return None if variant_ids is None else [*variant_ids]


def _serve(order_id: int) -> int | None:
    """Serve one order; return the pieces that it got, None where somebody else is changing it just now."""
    try:
        with transaction.atomic():
            free = Order.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=order_id)
            order = free.first()
            if order is None:
                return None
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
            with order.change(by=Actor.system("stock arrived")) as change:
                return serve(change)
    except (ApiError, DatabaseError) as error:
        if not connection.is_usable():
            raise  # without a database nobody else can be served either
        logger.warning("order %s waits for the next look: %s", order_id, error)
        return None


def _wake() -> None:
    """Have a worker do it now. None may hear it: the sweep comes by."""
    try:
        current_app.signature(SERVE_TASK).apply_async((), retry=False)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the sweep does it
        logger.warning("those who wait for stock wait for the sweep: %s", error)
