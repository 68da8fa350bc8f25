"""How a batch of stock rows lands: under locks in (variant, warehouse) order."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from psycopg.sql import SQL

from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.sql import execute, row
from inventory.importing.matching import file_time


def land(context: ImportContext) -> BatchResult:
    """Insert what is missing first, then lock what is there in (variant, warehouse) order and set it."""
    missing, there = row(
        SQL("SELECT count(*) FILTER (WHERE level_id IS NULL), count(level_id) FROM {}").format(BATCH)
    )
    created = _insert(context) if missing else 0
    updated, zeroed = _set(context) if there or created < missing else (0, 0)
    return BatchResult(created, updated, {"zeroed": zeroed})


def _insert(context: ImportContext) -> int:
    """Add the levels that are missing; return how many somebody else had not added meanwhile."""
    insert = SQL(
        "INSERT INTO inventory_stocklevel"
        " (variant_id, warehouse_id, on_hand, reserved, counted_at, updated_at)"
        " SELECT variant_id, warehouse_id, quantity, 0, coalesce({}, now()), now()"
        " FROM {} WHERE level_id IS NULL ORDER BY variant_id, warehouse_id"
    ).format(file_time(context), BATCH)
    try:
        # Nobody has in most cases, and not to ask for each saves a third of this.
        with transaction.atomic():
            return execute(insert)
    except IntegrityError:
        return execute(SQL("{} ON CONFLICT (variant_id, warehouse_id) DO NOTHING").format(insert))


def _set(context: ImportContext) -> tuple[int, int]:
    """Set what is there; return how many levels moved, and how many of them to 0."""
    # A count that is confirmed later keeps its pieces, but takes the later time.
    updated, zeroed = row(
        SQL(
            """
            WITH changed AS (
                SELECT l.id, b.quantity, l.on_hand <> b.quantity AS moved
                FROM {batch} AS b JOIN inventory_stocklevel AS l
                    ON l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id
                WHERE (l.on_hand <> b.quantity AND {as_of} IS NULL)
                    OR l.counted_at < {as_of} OR (l.counted_at IS NULL AND {as_of} IS NOT NULL)
                    OR (l.on_hand <> b.quantity AND l.counted_at = {as_of})
                ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l
            ), written AS (
                UPDATE inventory_stocklevel AS l
                SET on_hand = changed.quantity, counted_at = coalesce({as_of}, now()),
                    updated_at = CASE WHEN moved THEN now() ELSE l.updated_at END
                FROM changed WHERE l.id = changed.id RETURNING moved, l.on_hand
            )
            SELECT count(*) FILTER (WHERE moved), count(*) FILTER (WHERE moved AND on_hand = 0)
            FROM written
            """
        ).format(batch=BATCH, as_of=file_time(context))
    )
    return int(updated), int(zeroed)
