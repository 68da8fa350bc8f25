"""The landing of a batch of stock rows: lock the levels in (variant, warehouse) order and set them."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.sql import execute, row, value
from inventory.importing.matching import moment
from inventory.importing.since import COUNTED, add_moved, mark_outdated

MOVEMENTS = SQL(
    "INSERT INTO inventory_stockmovement (variant_id, warehouse_id, kind, on_hand_change, reserved_change,"
    " on_hand, reserved, actor, import_id, line)"
)


def land(context: ImportContext) -> BatchResult:
    """Insert the missing levels first, then lock the existing levels in order and set them."""
    missing, there = row(
        SQL("SELECT count(*) FILTER (WHERE level_id IS NULL), count(level_id) FROM {}").format(BATCH)
    )
    created = _insert(context) if missing else 0
    if not there and created == missing:
        return BatchResult(created, report={"zeroed": 0})
    _lock(context)
    updated, zeroed = _set(context)
    return BatchResult(created, updated, {"zeroed": zeroed})


def cause(context: ImportContext) -> Composable:
    """Return the actor and the import id of the movements."""
    return SQL("{}, {}").format(Literal(context.job.created_by), Literal(context.job.pk))


def _insert(context: ImportContext) -> int:
    """Insert the missing levels; return how many rows this transaction inserted itself."""
    levels = SQL(
        "INSERT INTO inventory_stocklevel"
        " (variant_id, warehouse_id, on_hand, reserved, counted_at, updated_at)"
        " SELECT b.variant_id, b.warehouse_id, {}, 0, {}, now()"
        " FROM {} AS b WHERE b.level_id IS NULL ORDER BY b.variant_id, b.warehouse_id"
    ).format(COUNTED, moment(context), BATCH)
    try:
        # Try without ON CONFLICT: concurrent inserts are rare, and the check costs a third of the time.
        with transaction.atomic():
            return execute(with_movements(context, levels, SQL("b.level_id IS NULL")))
    except IntegrityError:
        unless = SQL(
            "{} ON CONFLICT (variant_id, warehouse_id) DO NOTHING RETURNING variant_id, warehouse_id"
        )
        ours = SQL("(b.variant_id, b.warehouse_id) IN (SELECT variant_id, warehouse_id FROM created)")
        execute(SQL("SET LOCAL enable_hashjoin = on"))
        created = execute(with_movements(context, unless.format(levels), ours))
        execute(SQL("SET LOCAL enable_hashjoin = off"))
        return created


def with_movements(context: ImportContext, levels: Composable, created: Composable) -> Composable:
    """Return a statement that inserts the levels, with a movement for each inserted row of the batch."""
    return SQL(
        "WITH created AS ({levels}) {movements}"
        " SELECT b.variant_id, b.warehouse_id, 'count', {counted}, 0, {counted}, 0, {cause}, b.line"
        " FROM {batch} AS b WHERE {created}"
    ).format(
        levels=levels,
        movements=MOVEMENTS,
        counted=COUNTED,
        cause=cause(context),
        batch=BATCH,
        created=created,
    )


def _lock(context: ImportContext) -> None:
    """Lock the levels of the batch. The next statement then sees the changes that this one waited for."""
    outdated = value(
        SQL(
            """
            WITH locked AS (
                SELECT l.counted_at FROM {batch} AS b JOIN inventory_stocklevel AS l
                    ON l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id
                ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l
            )
            SELECT count(*) FROM locked WHERE counted_at > {moment}
            """
        ).format(batch=BATCH, moment=moment(context))
    )
    if outdated:
        mark_outdated(context)
    add_moved(context)


def _set(context: ImportContext) -> tuple[int, int]:
    """Set the existing levels; return how many changed, and how many of these became 0."""
    # A later count of the same number changes only `counted_at`.
    updated, zeroed = row(
        SQL(
            """
            WITH counted AS (
                SELECT l.id, b.line, b.variant_id, b.warehouse_id, l.on_hand, l.reserved, {counted} AS counted
                FROM {batch} AS b JOIN inventory_stocklevel AS l
                    ON l.variant_id = b.variant_id AND l.warehouse_id = b.warehouse_id
                WHERE NOT b.wrong
            ), written AS (
                UPDATE inventory_stocklevel AS l
                SET on_hand = counted.counted, counted_at = {moment},
                    updated_at = CASE WHEN l.on_hand <> counted.counted THEN now() ELSE l.updated_at END
                FROM counted WHERE l.id = counted.id
                    AND (l.on_hand <> counted.counted OR l.counted_at IS DISTINCT FROM {moment})
            ), moved AS (
                {movements}
                SELECT variant_id, warehouse_id, 'count', counted - on_hand, 0,
                    counted, reserved, {cause}, line
                FROM counted WHERE counted <> on_hand
                RETURNING on_hand
            )
            SELECT count(*), count(*) FILTER (WHERE on_hand = 0) FROM moved
            """
        ).format(
            counted=COUNTED,
            batch=BATCH,
            moment=moment(context),
            movements=MOVEMENTS,
            cause=cause(context),
        )
    )
    return int(updated), int(zeroed)
