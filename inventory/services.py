"""The push of stock: each element sets the count of one variant (endpoint 13, contract 7 and 12).

A push runs the same few statements for any number of elements (`inventory.counts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone
from psycopg.sql import SQL

from accounts.actors import Actor
from api.renderers import iso
from api.request_id import seconds_since_arrival
from catalog.snapshot import take_snapshot_after_commit
from events.recording import record
from fastdb import arrays
from fastdb.rows import rows_of
from inventory.arrivals import stock_arrived
from inventory.counts import Counts, Params, land_counts, moved_since, on_hand_now, refused_since
from inventory.elements import Element, ElementError, IdType, read_elements
from inventory.expecting import expect
from inventory.models import Warehouse

# The column of each id type. Only these constants reach SQL as text.
IDENTIFIERS = {
    IdType.SKU: "sku",
    IdType.UPC: "upc",
    IdType.EAN: "ean",
    IdType.ID_IN_SOURCE: "id_in_source",
}

# The time of a count: the push's `as_of` or, without it, the arrival of the request. An `as_of` in the future
# becomes the present. Use the database's clock for the present, because all movements use this clock.
MOMENT = """
    SELECT coalesce(least(%s::timestamptz, clock_timestamp()), clock_timestamp() - %s * interval '1 second')
"""

WAREHOUSES = SQL("ARRAY[%(warehouse)s::bigint]")
AS_OF = SQL("%(as_of)s::timestamptz")
ROWS = SQL(
    "(SELECT variant_id, %(warehouse)s::bigint AS warehouse_id, amount"
    " FROM unnest(%(variants)s::bigint[], %(amounts)s::int[]) AS pushed (variant_id, amount)) AS n"
)
MISSING = SQL(
    """
    NOT EXISTS (SELECT FROM inventory_stocklevel s
        WHERE s.variant_id = n.variant_id AND s.warehouse_id = n.warehouse_id)
    AND NOT EXISTS (SELECT FROM ({refused}) AS r WHERE r.variant_id = n.variant_id)
    """
).format(refused=refused_since(WAREHOUSES, AS_OF))
MOVED = SQL("LEFT JOIN ({}) AS since ON since.variant_id = n.variant_id").format(
    moved_since(WAREHOUSES, AS_OF)
)

PUSHED = Counts(
    rows=ROWS,
    missing=MISSING,
    moved=MOVED,
    on_hand=on_hand_now(SQL("n.amount"), SQL("since.units")),
    as_of=AS_OF,
    cause={"actor": SQL("%(actor)s"), "request_id": SQL("%(request_id)s")},
    look_up=True,
)

HEARD_INTERVAL = timedelta(minutes=10)


class StaleRow(NamedTuple):
    """A variant whose stored count is newer than the pushed count."""

    variant_id: int
    counted_at: datetime


STALE = SQL(
    """
    SELECT variant_id, counted_at FROM inventory_stocklevel
    WHERE warehouse_id = %(warehouse)s AND variant_id = ANY(%(variants)s::bigint[]) AND counted_at > {as_of}
    UNION ALL
    SELECT r.variant_id, r.refused_at FROM ({refused}) AS r
    WHERE r.variant_id = ANY(%(variants)s::bigint[]) AND NOT EXISTS (SELECT FROM inventory_stocklevel s
        WHERE s.variant_id = r.variant_id AND s.warehouse_id = %(warehouse)s)
    """
).format(as_of=AS_OF, refused=refused_since(WAREHOUSES, AS_OF))


@dataclass
class PushResult:
    """The counters and errors of a push.

    The sum of `updated`, `unchanged`, `rejected` and `duplicates` is the number of elements.
    """

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
    """Set `on_hand` in a warehouse from the valid elements. Each invalid element becomes an error.

    Reserved units do not change. If several elements name one variant, the last element counts. `as_of` is
    the time of the counts; the default is the arrival of the request. Units that left after this time are
    subtracted, and units that came back are added. A count that is older than the stored count is an error.
    """
    valid, errors = read_elements(elements, id_type, warehouse.pk)
    with transaction.atomic():
        as_of = _count_time(as_of)
        counts, result = _by_variant(warehouse, id_type, valid)
        result.errors += errors
        if counts:
            stale = _write(warehouse, counts, as_of, result, by=by)
            expect(
                {
                    (variant_id, warehouse.pk): element.expected_at
                    for variant_id, element in counts.items()
                    if element.sets_date and variant_id not in stale
                }
            )
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
    """Store the time of this push, at most every 10 minutes: other pushes wait for the warehouse's row."""
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
    """Return the supplier's variant id by identifier, or -1 for an identifier shared by several variants."""
    with connection.cursor() as cursor:
        if id_type is IdType.VARIANT_ID:
            query = (
                "SELECT id::text, id FROM catalog_variant WHERE supplier_id = %s AND id = ANY(%s::bigint[])"
            )
            cursor.execute(query, [warehouse.supplier_id, arrays.numbers(map(int, identifiers))])
        else:
            column = IDENTIFIERS[id_type]
            cursor.execute(
                f"SELECT {column}, CASE WHEN count(*) = 1 THEN min(id) ELSE -1 END FROM catalog_variant"  # noqa: S608 - the column is one of our constants
                f" WHERE supplier_id = %s AND {column} = ANY(string_to_array(%s, E'\\x1f')) GROUP BY 1",
                [warehouse.supplier_id, arrays.texts(identifiers)],
            )
        return dict(cursor.fetchall())


def _write(
    warehouse: Warehouse, counts: dict[int, Element], as_of: datetime, result: PushResult, *, by: Actor
) -> set[int]:
    """Write the counts, and return the ids of the variants that have a later count."""
    params: dict[str, Any] = {
        "warehouse": warehouse.pk,
        "variants": arrays.numbers(counts),
        "amounts": arrays.numbers(element.amount for element in counts.values()),
        "as_of": as_of,
        "actor": by.name,
        "request_id": by.request_id,
    }
    landed = land_counts(PUSHED, params)
    result.updated = landed.created + landed.updated
    stale = _stale_rows(params) if landed.stored < len(counts) else []
    result.errors += [_stale(counts[row.variant_id], as_of, row.counted_at) for row in stale]
    result.unchanged = len(counts) - result.updated - len(stale)
    return {row.variant_id for row in stale}


def _stale_rows(params: Params) -> list[StaleRow]:
    with connection.cursor() as cursor:
        cursor.execute(STALE, params)
        return rows_of(cursor, StaleRow)


def _stale(element: Element, as_of: datetime, stored: datetime) -> ElementError:
    message = f"This count was taken at {iso(as_of)}. A later count exists, taken at {iso(stored)}."
    return ElementError(element.index, element.identifier, "stale_count", message)
