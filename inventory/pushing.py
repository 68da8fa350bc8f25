"""Stock pushes: what the elements mean, and the counts they set (endpoint 13, contract 7 and 12).

The statements are few and set-based, however many elements there are. Missing rows are inserted first,
then existing ones are locked in (variant, warehouse) order and set: whoever inserts holds no lock yet
that another waits for, so pushes, imports and reservations cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from accounts.actors import Actor
from catalog.pulse import beat_after_commit
from events.recording import record
from inventory.elements import Element, Fault, IdType, read_elements
from inventory.models import Warehouse

# A variant's identifier as text, for each id type; never anything from a request.
IDENTIFIERS = {
    IdType.SKU: "sku",
    IdType.UPC: "upc",
    IdType.EAN: "ean",
    IdType.ID_IN_SOURCE: "id_in_source",
}

INSERT_MISSING = """
    INSERT INTO inventory_stocklevel (variant_id, warehouse_id, on_hand, reserved, counted_at, updated_at)
    SELECT pushed.variant_id, %(warehouse)s, pushed.amount, 0, coalesce(%(as_of)s, now()), now()
    FROM unnest(%(variants)s::bigint[], %(amounts)s::int[]) AS pushed (variant_id, amount)
    WHERE NOT EXISTS (SELECT FROM inventory_stocklevel s
        WHERE s.variant_id = pushed.variant_id AND s.warehouse_id = %(warehouse)s)
    ORDER BY pushed.variant_id
    ON CONFLICT (variant_id, warehouse_id) DO NOTHING
"""

# A row whose count is confirmed by a later one keeps its pieces, but takes the later time.
SET_CHANGED = """
    WITH changed AS (
        SELECT s.id, pushed.amount, s.on_hand <> pushed.amount AS moved
        FROM unnest(%(variants)s::bigint[], %(amounts)s::int[]) AS pushed (variant_id, amount)
        JOIN inventory_stocklevel s ON s.variant_id = pushed.variant_id AND s.warehouse_id = %(warehouse)s
        WHERE (s.on_hand <> pushed.amount AND %(as_of)s::timestamptz IS NULL)
            OR s.counted_at < %(as_of)s
            OR (s.counted_at IS NULL AND %(as_of)s IS NOT NULL)
            OR (s.on_hand <> pushed.amount AND s.counted_at = %(as_of)s)
        ORDER BY s.variant_id
        FOR UPDATE OF s
    ), written AS (
        UPDATE inventory_stocklevel s
        SET on_hand = changed.amount, counted_at = coalesce(%(as_of)s, now()),
            updated_at = CASE WHEN changed.moved THEN now() ELSE s.updated_at END
        FROM changed
        -- Named twice, so that these rows are looked up rather than the whole table read.
        WHERE s.id = changed.id AND s.id = ANY(ARRAY(SELECT id FROM changed))
        RETURNING changed.moved
    )
    SELECT count(*) FROM written WHERE moved
"""

OUTDATED = """
    SELECT variant_id, counted_at FROM inventory_stocklevel
    WHERE warehouse_id = %(warehouse)s AND variant_id = ANY(%(variants)s) AND counted_at > %(as_of)s
"""


@dataclass
class Outcome:
    """What became of a push; `updated + unchanged + rejected + duplicates` are its elements."""

    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    faults: list[Fault] = field(default_factory=list)


def push(
    warehouse: Warehouse,
    id_type: IdType,
    elements: Sequence[object],
    *,
    as_of: datetime | None = None,
    by: Actor,
) -> Outcome:
    """Set `on_hand` in a warehouse; good elements land, each bad one is a fault. Reservations stay.

    Of elements that name one variant the last counts. A count older (`as_of`) than the known one is a fault.
    """
    good, faults = read_elements(elements, id_type)
    with transaction.atomic():
        wanted, outcome = _by_variant(warehouse, id_type, good)
        outcome.faults += faults
        if wanted:
            _write(warehouse, wanted, as_of, outcome)
        if outcome.updated:
            told = {"warehouse_id": warehouse.pk, "updated": outcome.updated, "unchanged": outcome.unchanged}
            record("inventory.updated", by=by, area="inventory", supplier=warehouse.supplier, data=told)
            beat_after_commit()
    outcome.faults.sort(key=lambda fault: fault.place)
    return outcome


def _by_variant(
    warehouse: Warehouse, id_type: IdType, elements: Sequence[Element]
) -> tuple[dict[int, Element], Outcome]:
    """The last element of each variant, and the elements that found none or more than one."""
    known = _find(warehouse, id_type, [element.identifier for element in elements])
    wanted: dict[int, Element] = {}
    outcome = Outcome()
    for element in elements:
        variant_id = known.get(element.identifier, 0)
        if variant_id > 0:
            outcome.duplicates += variant_id in wanted
            wanted[variant_id] = element
        else:
            outcome.faults.append(_unfound(element, id_type, several=variant_id < 0))
    return wanted, outcome


def _unfound(element: Element, id_type: IdType, *, several: bool) -> Fault:
    named = f"{id_type.value} {element.identifier}"
    if several:
        message = f"More than one variant of yours has the {named}; push by sku."
        return Fault(element.place, element.identifier, "ambiguous", message)
    return Fault(element.place, element.identifier, "not_found", f"No variant of yours has the {named}.")


def _find(warehouse: Warehouse, id_type: IdType, identifiers: Sequence[str]) -> dict[str, int]:
    """The supplier's variants by identifier; -1 for an identifier that several share."""
    with connection.cursor() as cursor:
        if id_type is IdType.VARIANT_ID:
            query = "SELECT id::text, id FROM catalog_variant WHERE supplier_id = %s AND id = ANY(%s)"
            cursor.execute(query, [warehouse.supplier_id, [int(each) for each in identifiers]])
        else:
            column = IDENTIFIERS[id_type]
            cursor.execute(
                f"SELECT {column}, CASE WHEN count(*) = 1 THEN min(id) ELSE -1 END FROM catalog_variant"  # noqa: S608 - a column of ours
                f" WHERE supplier_id = %s AND {column} = ANY(%s) GROUP BY 1",
                [warehouse.supplier_id, list(identifiers)],
            )
        return dict(cursor.fetchall())


def _write(
    warehouse: Warehouse, wanted: dict[int, Element], as_of: datetime | None, outcome: Outcome
) -> None:
    params: dict[str, Any] = {
        "warehouse": warehouse.pk,
        "variants": list(wanted),
        "amounts": [element.amount for element in wanted.values()],
        "as_of": as_of,
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MISSING, params)
        outcome.updated = cursor.rowcount
        cursor.execute(SET_CHANGED, params)
        outcome.updated += cursor.fetchone()[0]
        if as_of is not None:
            cursor.execute(OUTDATED, params)
            for variant_id, known in cursor.fetchall():
                element = wanted[variant_id]
                message = f"A later count is known, of {known.isoformat()}."
                outcome.faults.append(Fault(element.place, element.identifier, "outdated", message))
    outdated = sum(fault.code == "outdated" for fault in outcome.faults)
    outcome.unchanged = len(wanted) - outcome.updated - outdated
