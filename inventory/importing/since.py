"""Corrections of a file's counts by the stock movements after the count."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import BATCH, ImportContext
from imports.sql import execute
from inventory.counts import moved_since, on_hand_now, refused_since
from inventory.importing.matching import moment, own_warehouses


def moved(context: ImportContext) -> Composable:
    """Return a query for the units that came back (positive) or left (negative) after the file's count."""
    return moved_since(Literal(own_warehouses(context)), moment(context))


# The number on hand now for a batch row `b`.
COUNTED = on_hand_now(SQL("b.quantity"), SQL("b.units"))


def add_moved(context: ImportContext) -> None:
    """Store in each batch row the units that moved after the count.

    Call this function again after the levels are locked, so that no movement is missed.
    """
    _execute(
        SQL(
            "UPDATE {} AS b SET units = m.units FROM ({}) AS m"
            " WHERE m.variant_id = b.variant_id AND m.warehouse_id = b.warehouse_id"
        ).format(BATCH, moved(context))
    )


def mark_refused(context: ImportContext) -> None:
    """Mark rows without a level as wrong if the supplier refused the variant after the count.

    A refusal counts as a newer count of 0.
    """
    _execute(
        SQL(
            """
            UPDATE {batch} AS b SET wrong = true, counted_at = r.refused_at FROM ({refused}) AS r
            WHERE r.variant_id = b.variant_id AND r.warehouse_id = b.warehouse_id AND b.level_id IS NULL
            """
        ).format(batch=BATCH, refused=refused_since(Literal(own_warehouses(context)), moment(context)))
    )


def mark_outdated(context: ImportContext) -> None:
    """Mark rows as wrong if a later count was stored while this import waited for the lock."""
    execute(
        SQL(
            "UPDATE {} AS b SET wrong = true, counted_at = l.counted_at FROM inventory_stocklevel AS l"
            " WHERE l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id AND l.counted_at > {}"
        ).format(BATCH, moment(context))
    )


def _execute(statement: Composable) -> None:
    """Execute a statement with hash joins: the movements are a short list, and a lookup per row is slower."""
    execute(SQL("SET LOCAL enable_hashjoin = on"))
    execute(statement)
    execute(SQL("SET LOCAL enable_hashjoin = off"))
