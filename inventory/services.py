"""Stock pushes: find the variant of each element and set its count (endpoint 13, contract 7 and 12).

A push runs the same few statements for any number of elements. It inserts missing rows first, then locks
the existing rows in (variant, warehouse) order and sets them. A transaction that inserts holds no row
locks yet, so pushes, imports and reservations cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actors import Actor
from api.renderers import iso
from api.request_id import seconds_since_arrival
from catalog.snapshot import take_snapshot_after_commit
from events.recording import record
from fastdb.rows import rows_of
from inventory.arrivals import stock_arrived
from inventory.elements import Element, ElementError, IdType, read_elements
from inventory.models import Warehouse

# The column of each id type. Only these constants reach SQL as text.
IDENTIFIERS = {
    IdType.SKU: "sku",
    IdType.UPC: "upc",
    IdType.EAN: "ean",
    IdType.ID_IN_SOURCE: "id_in_source",
}

# The time of a count, by the database's clock, as for all movements. Use the push's `as_of`, but never a
# time in the future; without `as_of`, use the arrival of the request.
MOMENT = """
    SELECT coalesce(least(%s::timestamptz, clock_timestamp()), clock_timestamp() - %s * interval '1 second')
"""

# Correct a count by the units that left or came back after it was taken.
MOVED_SINCE = """
    SELECT variant_id, sum(moved) AS units FROM inventory_stockmovement
    WHERE warehouse_id = %(warehouse)s AND moved <> 0 AND occurred_at > %(as_of)s GROUP BY variant_id
"""
COUNTED = "least(greatest(pushed.amount + coalesce(since.units, 0), 0), 2147483647)::int"

# A refusal is a count of 0, also for a variant that has no stock row yet.
REFUSED_SINCE = """
    SELECT variant_id, occurred_at FROM inventory_stockmovement
    WHERE warehouse_id = %(warehouse)s AND kind = 'refuse' AND occurred_at > %(as_of)s
"""

INSERT_MISSING = f"""
    WITH created AS (
        INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved, counted_at, updated_at)
        SELECT pushed.variant_id, %(warehouse)s, {COUNTED}, 0, %(as_of)s, now()
        FROM unnest(%(variants)s::bigint[], %(amounts)s::int[]) AS pushed (variant_id, amount)
        LEFT JOIN ({MOVED_SINCE}) AS since USING (variant_id)
        WHERE NOT EXISTS (SELECT FROM inventory_stocklevel s
                WHERE s.variant_id = pushed.variant_id AND s.warehouse_id = %(warehouse)s)
            AND NOT EXISTS (SELECT FROM ({REFUSED_SINCE}) AS r WHERE r.variant_id = pushed.variant_id)
        ORDER BY pushed.variant_id
        ON CONFLICT (variant_id, warehouse_id) DO NOTHING
        RETURNING variant_id, on_hand
    )
    INSERT INTO inventory_stockmovement (variant_id, warehouse_id, kind, on_hand_change, reserved_change,
        on_hand, reserved, actor, request_id)
    SELECT variant_id, %(warehouse)s, 'count', on_hand, 0, on_hand, 0, %(actor)s, %(request_id)s
    FROM created
"""  # noqa: S608 - of constants

# Lock in a separate statement: the next statement then sees the movements of the transactions that this
# one waited for.
LOCK = """
    SELECT FROM inventory_stocklevel
    WHERE warehouse_id = %(warehouse)s AND variant_id = ANY(%(variants)s)
    ORDER BY variant_id FOR UPDATE
"""

# A later count of the same number changes only `counted_at`.
SET_COUNTED = f"""
    WITH counted AS (
        SELECT s.id, s.variant_id, s.on_hand, s.reserved, {COUNTED} AS counted
        FROM unnest(%(variants)s::bigint[], %(amounts)s::int[]) AS pushed (variant_id, amount)
        JOIN inventory_stocklevel s ON s.variant_id = pushed.variant_id AND s.warehouse_id = %(warehouse)s
        LEFT JOIN ({MOVED_SINCE}) AS since ON since.variant_id = s.variant_id
        WHERE s.counted_at IS NULL OR s.counted_at <= %(as_of)s
    ), written AS (
        UPDATE inventory_stocklevel s
        SET on_hand = counted.counted, counted_at = %(as_of)s,
            updated_at = CASE WHEN s.on_hand <> counted.counted THEN now() ELSE s.updated_at END
        FROM counted
        -- Repeat the ids as an array: PostgreSQL then uses the index instead of reading the whole table.
        WHERE s.id = counted.id AND s.id = ANY(ARRAY(SELECT id FROM counted))
            AND (s.on_hand <> counted.counted OR s.counted_at IS DISTINCT FROM %(as_of)s)
    )
    INSERT INTO inventory_stockmovement (variant_id, warehouse_id, kind, on_hand_change, reserved_change,
        on_hand, reserved, actor, request_id)
    SELECT variant_id, %(warehouse)s, 'count', counted - on_hand, 0, counted, reserved,
        %(actor)s, %(request_id)s
    FROM counted WHERE counted <> on_hand
"""  # noqa: S608 - of constants

HEARD_INTERVAL = timedelta(minutes=10)


class StaleRow(NamedTuple):
    """A variant with a later count than the pushed one."""

    variant_id: int
    counted_at: datetime


STALE = f"""
    SELECT variant_id, counted_at FROM inventory_stocklevel
    WHERE warehouse_id = %(warehouse)s AND variant_id = ANY(%(variants)s) AND counted_at > %(as_of)s
    UNION ALL
    SELECT r.variant_id, max(r.occurred_at) FROM ({REFUSED_SINCE}) AS r
    WHERE r.variant_id = ANY(%(variants)s) AND NOT EXISTS (SELECT FROM inventory_stocklevel s
        WHERE s.variant_id = r.variant_id AND s.warehouse_id = %(warehouse)s)
    GROUP BY r.variant_id
"""  # noqa: S608 - of constants


@dataclass
class PushResult:
    """The counters and errors of a push; `updated + unchanged + rejected + duplicates` = its elements."""

    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    errors: list[ElementError] = field(default_factory=list)


def push(
    warehouse: Warehouse,
    id_type: IdType,
    elements: Sequence[object],
    *,
    as_of: datetime | None = None,
    by: Actor,
) -> PushResult:
    """Set `on_hand` in a warehouse from valid elements; each bad element is an error. Reservations stay.

    If several elements name one variant, the last wins. The counts were taken at `as_of`, or without it
    when the request arrived. Units that left or came back since are subtracted or added. A count that is
    older than the stored count is an error.
    """
    valid, errors = read_elements(elements, id_type, warehouse.pk)
    with transaction.atomic():
        as_of = _count_time(as_of)
        counts, result = _by_variant(warehouse, id_type, valid)
        result.errors += errors
        if counts:
            _write(warehouse, counts, as_of, result, by=by)
        if result.updated or result.unchanged:
            _note_push(warehouse)
        if result.updated:
            data = {"warehouse_id": warehouse.pk, "updated": result.updated, "unchanged": result.unchanged}
            record("inventory.updated", by=by, area="inventory", supplier=warehouse.supplier, data=data)
            take_snapshot_after_commit()
            stock_arrived(list(counts))
    result.errors.sort(key=lambda error: error.index)
    return result


def _note_push(warehouse: Warehouse) -> None:
    """Store the time of this push, at most every 10 minutes: concurrent pushes would wait for the row."""
    if warehouse.heard_at is None or timezone.now() - warehouse.heard_at > HEARD_INTERVAL:
        Warehouse.objects.filter(pk=warehouse.pk).update(heard_at=Now())


def _count_time(as_of: datetime | None) -> datetime:
    with connection.cursor() as cursor:
        cursor.execute(MOMENT, [as_of, seconds_since_arrival()])
        time: datetime = cursor.fetchone()[0]
    return time


def _by_variant(
    warehouse: Warehouse, id_type: IdType, elements: Sequence[Element]
) -> tuple[dict[int, Element], PushResult]:
    """Return the last element of each variant, and a result with an error for each unmatched element."""
    variant_ids = _find(warehouse, id_type, [element.identifier for element in elements])
    counts: dict[int, Element] = {}
    result = PushResult()
    for element in elements:
        variant_id = variant_ids.get(element.identifier, 0)
        if variant_id > 0:
            result.duplicates += variant_id in counts
            counts[variant_id] = element
        else:
            result.errors.append(_unmatched(element, id_type, several=variant_id < 0))
    return counts, result


def _unmatched(element: Element, id_type: IdType, *, several: bool) -> ElementError:
    named = f"{id_type.value} {element.identifier}"
    if several:
        message = f"Several of your variants have the {named}. Push this count by sku."
        return ElementError(element.index, element.identifier, "ambiguous", message)
    return ElementError(
        element.index, element.identifier, "not_found", f"You have no variant with the {named}."
    )


def _find(warehouse: Warehouse, id_type: IdType, identifiers: Sequence[str]) -> dict[str, int]:
    """Return the id of the supplier's variant for each identifier; -1 if several variants share it."""
    with connection.cursor() as cursor:
        if id_type is IdType.VARIANT_ID:
            query = "SELECT id::text, id FROM catalog_variant WHERE supplier_id = %s AND id = ANY(%s)"
            cursor.execute(query, [warehouse.supplier_id, [int(identifier) for identifier in identifiers]])
        else:
            column = IDENTIFIERS[id_type]
            cursor.execute(
                f"SELECT {column}, CASE WHEN count(*) = 1 THEN min(id) ELSE -1 END FROM catalog_variant"  # noqa: S608 - the column is one of our constants
                f" WHERE supplier_id = %s AND {column} = ANY(%s) GROUP BY 1",
                [warehouse.supplier_id, list(identifiers)],
            )
        return dict(cursor.fetchall())


def _write(
    warehouse: Warehouse, counts: dict[int, Element], as_of: datetime, result: PushResult, *, by: Actor
) -> None:
    params: dict[str, Any] = {
        "warehouse": warehouse.pk,
        "variants": list(counts),
        "amounts": [element.amount for element in counts.values()],
        "as_of": as_of,
        "actor": by.name,
        "request_id": by.request_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MISSING, params)
        result.updated = cursor.rowcount
        cursor.execute(LOCK, params)
        cursor.execute(SET_COUNTED, params)
        result.updated += cursor.rowcount
        cursor.execute(STALE, params)
        stale = rows_of(cursor, StaleRow)
    result.errors += [_stale(counts[row.variant_id], as_of, row.counted_at) for row in stale]
    result.unchanged = len(counts) - result.updated - len(stale)


def _stale(element: Element, as_of: datetime, stored: datetime) -> ElementError:
    message = f"This count was taken at {iso(as_of)}. A later count exists, taken at {iso(stored)}."
    return ElementError(element.index, element.identifier, "stale_count", message)
