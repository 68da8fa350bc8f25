"""What a full file does not name becomes 0, unless it is not known what it names."""

from __future__ import annotations

from typing import Any

from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import ImportContext
from imports.sql import value
from inventory.importing.matching import NOWHERE, counted_before, file_time, named_in_file, warehouse_ids

FULL = "full"


def finish(context: ImportContext) -> dict[str, Any]:
    if context.job.options["mode"] != FULL:
        return {}
    if why := why_kept(context):
        return {"zeroed": 0, "kept": why}
    zeroed = value(
        SQL(
            """
            WITH gone AS ({unnamed} ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l),
            written AS (
                UPDATE inventory_stocklevel AS l
                SET on_hand = 0, counted_at = coalesce({as_of}, now()), updated_at = now()
                FROM gone WHERE l.id = gone.id RETURNING 1
            )
            SELECT count(*) FROM written
            """
        ).format(unnamed=_unnamed(context), as_of=file_time(context))
    )
    return {"zeroed": int(zeroed)}


def forecast_finish(context: ImportContext) -> dict[str, Any]:
    if context.job.options["mode"] != FULL:
        return {}
    if why := why_kept(context):
        return {"zeroed": 0, "kept": why}
    return {"zeroed": int(value(SQL("SELECT count(*) FROM ({}) AS l").format(_unnamed(context))))}


def _unnamed(context: ImportContext) -> Composable:
    """The stock in the file's warehouses that no row of it names, not even a rejected one.

    A row whose warehouse nobody knows names its variant in all of them.
    """
    return SQL(
        """
        SELECT l.id FROM inventory_stocklevel AS l
        WHERE l.warehouse_id = ANY({warehouses}) AND l.on_hand > 0
            AND {older} AND NOT EXISTS (SELECT FROM ({named}) AS n
                WHERE n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {nowhere}))
        """
    ).format(
        warehouses=Literal(warehouse_ids(context)),
        older=counted_before(context),
        named=named_in_file(context),
        nowhere=NOWHERE,
    )


def why_kept(context: ImportContext) -> str:
    """Why what a full file does not name is left alone: it is not all there is. Empty where it may be."""
    if context.mapped.own:
        return "Nothing that it does not name was set to 0: an error report holds the rejected rows only."
    if context.job.rejects.filter(field="").exists():
        return (
            "Nothing that it does not name was set to 0:"
            " some records could not be read, and what they name is not known."
        )
    return ""
