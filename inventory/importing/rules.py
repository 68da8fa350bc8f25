"""The rules of a stock file's rows, beyond the checks of single values."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal

from api.renderers import iso
from imports.pipeline.columns import RowRule, about, text
from imports.pipeline.context import ImportContext
from inventory.elements import MOST
from inventory.importing.matching import left_out, moment


def rules(context: ImportContext) -> list[tuple[str, RowRule]]:
    label = context.mapped.columns["id"].name
    identifier = context.mapped.cell("id")
    row_rules = [
        (
            label,
            RowRule(
                SQL("b.variant_id IS NULL AND b.id <> ''"),
                "not_found",
                about(identifier, f"you have no variant with this {label}."),
            ),
        ),
        (
            label,
            RowRule(
                SQL("b.times > 1"),
                "ambiguous",
                about(identifier, f"several of your variants have this {label}."),
            ),
        ),
        (
            "quantity",
            RowRule(
                SQL("b.quantity > {} AND b.quantity <> 'NaN'").format(Literal(MOST)),
                "max_value",
                text(f"quantity is more than {MOST}."),
            ),
        ),
    ]
    if "warehouse" in context.mapped.fields:
        row_rules.append(
            (
                "warehouse",
                RowRule(
                    SQL("b.warehouse_id = 0 AND b.warehouse <> ''"),
                    "not_found",
                    about(
                        context.mapped.cell("warehouse"),
                        "is neither the id nor the exact name of one of your warehouses.",
                    ),
                ),
            ),
        )
    if unwanted := left_out(context):
        condition = SQL("b.warehouse_id = ANY({})").format(Literal(unwanted))
        message = text("An operator approved this file without this warehouse.")
        row_rules.append(("warehouse", RowRule(condition, "not_approved", message)))
    row_rules.append(
        (
            "quantity",
            RowRule(SQL("b.counted_at > {}").format(moment(context)), "stale_count", _both_moments(context)),
        )
    )
    return row_rules


def _both_moments(context: ImportContext) -> Composable:
    return SQL("{} || to_char(b.counted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z.\"')").format(
        Literal(f"This count was taken at {iso(context.job.as_of)}. A later count exists, taken at ")
    )
