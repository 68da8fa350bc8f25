"""What happened to stock after the file's moment: a count of then is what is there now with that."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import BATCH, ImportContext
from imports.sql import execute
from inventory.elements import MOST
from inventory.importing.matching import moment, own_warehouses


def moved(context: ImportContext) -> Composable:
    """A query for the pieces that came back since or, below 0, left: by variant and warehouse."""
    return SQL(
        "SELECT variant_id, warehouse_id, sum(moved) AS pieces FROM inventory_stockmovement"
        " WHERE warehouse_id = ANY({}) AND moved <> 0 AND occurred_at > {} GROUP BY 1, 2"
    ).format(Literal(own_warehouses(context)), moment(context))


def as_of_now(counted: Composable, pieces: Composable) -> Composable:
    """What is on hand now where so many were counted, and so many moved since."""
    return SQL("least(greatest({} + coalesce({}, 0), 0), {})::int").format(counted, pieces, Literal(MOST))


# The same of a batch's row, `b`.
COUNTED = as_of_now(SQL("b.quantity"), SQL("b.pieces"))


def add_moved(context: ImportContext) -> None:
    """Give each row of the batch the pieces that moved since. Under the rows' locks that is all of them."""
    _execute(
        SQL(
            "UPDATE {} AS b SET pieces = m.pieces FROM ({}) AS m"
            " WHERE m.variant_id = b.variant_id AND m.warehouse_id = b.warehouse_id"
        ).format(BATCH, moved(context))
    )


def mark_refused(context: ImportContext) -> None:
    """Mark as wrong the rows of what has no level, and was refused since: that was a count of 0."""
    _execute(
        SQL(
            """
            UPDATE {batch} AS b SET wrong = true, counted_at = r.refused_at
            FROM (
                SELECT variant_id, warehouse_id, max(occurred_at) AS refused_at FROM inventory_stockmovement
                WHERE warehouse_id = ANY({warehouses}) AND kind = 'refuse' AND occurred_at > {moment}
                GROUP BY 1, 2
            ) AS r
            WHERE r.variant_id = b.variant_id AND r.warehouse_id = b.warehouse_id AND b.level_id IS NULL
            """
        ).format(batch=BATCH, warehouses=Literal(own_warehouses(context)), moment=moment(context))
    )


def mark_outdated(context: ImportContext) -> None:
    """Mark as wrong the rows of levels that somebody has counted later while this one waited for them."""
    execute(
        SQL(
            "UPDATE {} AS b SET wrong = true, counted_at = l.counted_at FROM inventory_stocklevel AS l"
            " WHERE l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id AND l.counted_at > {}"
        ).format(BATCH, moment(context))
    )


def _execute(statement: Composable) -> None:
    """What moved is one short list: it is not looked for row by row, as a range otherwise finds its rows."""
    execute(SQL("SET LOCAL enable_hashjoin = on"))
    execute(statement)
    execute(SQL("SET LOCAL enable_hashjoin = off"))
