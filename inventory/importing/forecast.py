"""What a stock file would do: for dry runs, and for the approval rule."""

from __future__ import annotations

from psycopg.sql import SQL, Literal

from imports.models import ImportPolicy
from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.sql import row
from inventory.importing.full_files import FULL, why_kept
from inventory.importing.matching import NOWHERE, counted_before, named_in_file, warehouse_ids
from inventory.importing.since import COUNTED, moved


def forecast(context: ImportContext) -> BatchResult:
    created, updated, zeroed = row(
        SQL(
            "SELECT count(*) FILTER (WHERE level_id IS NULL),"
            " count(*) FILTER (WHERE l.on_hand <> {counted}),"
            " count(*) FILTER (WHERE l.on_hand <> {counted} AND {counted} = 0)"
            " FROM {batch} AS b LEFT JOIN inventory_stocklevel AS l ON l.id = b.level_id"
        ).format(counted=COUNTED, batch=BATCH)
    )
    return BatchResult(int(created), int(updated), {"zeroed": int(zeroed)})


def approval_reasons(context: ImportContext, policy: ImportPolicy) -> list[str]:
    full = context.job.options["mode"] == FULL and not why_kept(context)
    if not (full or policy.zeroed_in_delta):
        return []
    zeroed, stocked = row(
        SQL(
            """
            SELECT count(DISTINCT l.variant_id) FILTER (WHERE {older} AND (
                    (n.quantity BETWEEN 0 AND -coalesce(m.pieces, 0) AND n.warehouse_id <> {nowhere})
                    OR ({full} AND n.variant_id IS NULL AND coalesce(m.pieces, 0) <= 0)
                )), count(DISTINCT l.variant_id)
            FROM inventory_stocklevel AS l LEFT JOIN ({named}) AS n
                ON n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {nowhere})
            LEFT JOIN ({moved}) AS m ON m.variant_id = l.variant_id AND m.warehouse_id = l.warehouse_id
            WHERE l.warehouse_id = ANY({warehouses}) AND l.on_hand > 0
            """
        ).format(
            full=Literal(full),
            older=counted_before(context),
            nowhere=NOWHERE,
            named=named_in_file(context),
            moved=moved(context),
            warehouses=Literal(warehouse_ids(context)),
        )
    )
    if int(zeroed) <= policy.zeroed_least or int(zeroed) <= policy.zeroed_share * int(stocked):
        return []
    return [f"It would set {zeroed} of {stocked} stocked variants to 0."]
