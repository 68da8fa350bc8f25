"""The predicted effect of a stock file, for dry runs and the approval rule."""

from __future__ import annotations

import json

from psycopg.sql import SQL, Literal

from imports.models import ImportPolicy
from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.pipeline.job_report import TOP
from imports.sql import row
from inventory.counts import on_hand_now
from inventory.elements import MOST
from inventory.importing.full_files import FULL, reason_to_keep
from inventory.importing.matching import UNKNOWN_WAREHOUSE, counted_before, named_in_file, warehouse_ids
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
    full = context.job.options["mode"] == FULL and not reason_to_keep(context)
    if not (full or policy.zeroed_in_delta):
        return []
    zeroed, stocked = row(
        SQL(
            """
            SELECT count(DISTINCT l.variant_id) FILTER (WHERE {older} AND (
                    (n.quantity BETWEEN 0 AND -coalesce(m.units, 0) AND n.warehouse_id <> {unknown})
                    OR ({full} AND n.variant_id IS NULL AND coalesce(m.units, 0) <= 0)
                )), count(DISTINCT l.variant_id)
            FROM inventory_stocklevel AS l LEFT JOIN ({named}) AS n
                ON n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {unknown})
            LEFT JOIN ({moved}) AS m ON m.variant_id = l.variant_id AND m.warehouse_id = l.warehouse_id
            WHERE l.warehouse_id = ANY({warehouses}) AND l.on_hand > 0
            """
        ).format(
            full=Literal(full),
            older=counted_before(context),
            unknown=UNKNOWN_WAREHOUSE,
            named=named_in_file(context),
            moved=moved(context),
            warehouses=Literal(warehouse_ids(context)),
        )
    )
    if int(zeroed) <= policy.zeroed_least or int(zeroed) <= policy.zeroed_share * int(stocked):
        return []
    return [f"The file would set {zeroed} of {stocked} stocked variants to 0."]


def outlook(context: ImportContext) -> dict[str, object]:
    """Return the predicted change of the existing stock per warehouse, and the largest changes."""
    full = context.job.options["mode"] == FULL and not reason_to_keep(context)
    warehouses, changes = row(
        SQL(
            """
            WITH ahead AS MATERIALIZED (
                SELECT l.variant_id, l.warehouse_id, l.on_hand AS old, CASE
                    WHEN n.quantity BETWEEN 0 AND {most} AND n.warehouse_id <> {unknown} THEN {counted}
                    WHEN {full} AND n.variant_id IS NULL AND coalesce(m.units, 0) <= 0 THEN 0
                    ELSE l.on_hand END AS new
                FROM inventory_stocklevel AS l LEFT JOIN ({named}) AS n
                    ON n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {unknown})
                LEFT JOIN ({moved}) AS m
                    ON m.variant_id = l.variant_id AND m.warehouse_id = l.warehouse_id
                WHERE l.warehouse_id = ANY({warehouses}) AND {older}
            )
            SELECT (SELECT coalesce(jsonb_agg(t), '[]') FROM (
                SELECT w.id AS warehouse_id, w.name AS warehouse,
                    count(*) FILTER (WHERE old <> new) AS changed,
                    count(*) FILTER (WHERE old > 0 AND new = 0) AS zeroed,
                    sum(old) AS before, sum(new) AS after
                FROM ahead JOIN inventory_warehouse w ON w.id = warehouse_id GROUP BY w.id ORDER BY w.name
            ) t), (SELECT coalesce(jsonb_agg(t), '[]') FROM (
                SELECT v.sku, w.name AS warehouse, old AS from, new AS to FROM ahead
                JOIN catalog_variant v ON v.id = variant_id JOIN inventory_warehouse w ON w.id = warehouse_id
                WHERE old <> new ORDER BY abs(old - new) DESC, v.sku, w.name LIMIT {top}
            ) t)
            """
        ).format(
            most=Literal(MOST),
            unknown=UNKNOWN_WAREHOUSE,
            counted=on_hand_now(SQL("n.quantity"), SQL("m.units")),
            full=Literal(full),
            named=named_in_file(context),
            moved=moved(context),
            warehouses=Literal(warehouse_ids(context)),
            older=counted_before(context),
            top=Literal(TOP),
        )
    )
    return {"warehouses": json.loads(warehouses), "stock_changes": json.loads(changes)}
