"""Full files. Stock that a full file leaves out becomes 0, unless some records of the file are unreadable."""

from __future__ import annotations

from django.db.models import Q
from psycopg.sql import SQL, Composable, Literal

from imports.pipeline.context import ImportContext
from imports.pipeline.record_checks import UNREADABLE
from imports.sql import execute, row, value
from inventory.counts import Counts, on_hand_now, set_levels
from inventory.importing.landing import cause
from inventory.importing.matching import (
    UNKNOWN_WAREHOUSE,
    counted_before,
    moment,
    named_in_file,
    warehouse_ids,
)
from inventory.importing.since import moved

FULL = "full"


UNNAMED = SQL("pg_temp.import_unnamed")


def finish(context: ImportContext) -> dict[str, object]:
    """Set stock that the file does not name to 0, as of the file's time. Keep counts that are newer."""
    if context.job.options["mode"] != FULL:
        return {}
    if why := reason_to_keep(context):
        return {"zeroed": 0, "kept": why}
    # Lock in a separate statement: only the next statement sees the changes for which the lock waited.
    execute(SQL("DROP TABLE IF EXISTS {}").format(UNNAMED))
    execute(
        SQL(
            "CREATE TEMP TABLE import_unnamed ON COMMIT DROP AS"
            " {} ORDER BY l.variant_id, l.warehouse_id FOR UPDATE OF l"
        ).format(_unnamed(context))
    )
    kept_newer = value(SQL("SELECT {} FROM ({}) AS c").format(KEPT_NEWER, _counted(context, UNNAMED)))
    _, zeroed = set_levels(
        Counts(
            rows=SQL("{} AS n").format(UNNAMED),
            moved=SQL(
                "LEFT JOIN ({}) AS m ON m.variant_id = n.variant_id AND m.warehouse_id = n.warehouse_id"
            ).format(moved(context)),
            on_hand=on_hand_now(SQL("0"), SQL("m.units")),
            as_of=moment(context),
            cause=cause(context),
        )
    )
    return {"zeroed": zeroed, "kept_newer": int(kept_newer)}


def forecast_finish(context: ImportContext) -> dict[str, object]:
    if context.job.options["mode"] != FULL:
        return {}
    if why := reason_to_keep(context):
        return {"zeroed": 0, "kept": why}
    counted = _counted(context, SQL("({})").format(_unnamed(context)))
    zeroed, kept_newer = row(SQL("SELECT {}, {} FROM ({}) AS c").format(ZEROED, KEPT_NEWER, counted))
    return {"zeroed": int(zeroed), "kept_newer": int(kept_newer)}


ZEROED = SQL("count(*) FILTER (WHERE older AND counted = 0 AND on_hand > 0)")
KEPT_NEWER = SQL("count(*) FILTER (WHERE NOT older AND on_hand > 0)")


def _unnamed(context: ImportContext) -> Composable:
    """Return a query for the stock levels in the file's warehouses that the file leaves out.

    A rejected row names its stock level, too. A row with an unknown warehouse names its variant in all
    warehouses.
    """
    return SQL(
        """
        SELECT l.id, l.variant_id, l.warehouse_id, l.on_hand, l.reserved, l.counted_at
        FROM inventory_stocklevel AS l
        WHERE l.warehouse_id = ANY({warehouses}) AND NOT EXISTS (SELECT FROM ({named}) AS n
            WHERE n.variant_id = l.variant_id AND n.warehouse_id IN (l.warehouse_id, {unknown}))
        """
    ).format(
        warehouses=Literal(warehouse_ids(context)), named=named_in_file(context), unknown=UNKNOWN_WAREHOUSE
    )


def _counted(context: ImportContext, unnamed: Composable) -> Composable:
    """Return a query that adds two columns to the stock in `unnamed`.

    `counted` is the new number on hand. `older` is false if the stored count is newer than the file.
    """
    return SQL(
        "SELECT l.*, {older} AS older, {counted} AS counted FROM {unnamed} AS l"
        " LEFT JOIN ({moved}) AS m ON m.variant_id = l.variant_id AND m.warehouse_id = l.warehouse_id"
    ).format(
        older=counted_before(context),
        counted=on_hand_now(SQL("0"), SQL("m.units")),
        unnamed=unnamed,
        moved=moved(context),
    )


def reason_to_keep(context: ImportContext) -> str:
    """Return the reason why the stock that the file leaves out must not become 0, else an empty string."""
    if context.mapped.own:
        return "No other stock was set to 0: an error report contains only the rejected rows."
    if context.job.rejects.filter(Q(field="") | Q(code__in=UNREADABLE)).exists():
        return (
            "No stock was set to 0: some records could not be read, and they may name the stock"
            " that the file seems to leave out."
        )
    return ""
