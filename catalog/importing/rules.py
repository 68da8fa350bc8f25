"""The rules of a product file's rows, beyond the checks of single values."""

from __future__ import annotations

from psycopg.sql import SQL, Identifier

from catalog.importing.columns import COLUMNS, OF_GTIN
from imports.pipeline.columns import RowRule, text
from imports.pipeline.context import ImportContext


def rules(context: ImportContext) -> list[tuple[str, RowRule]]:
    fields = context.mapped.fields
    row_rules = [
        (
            name,
            RowRule(
                SQL("b.variant_id IS NULL"),
                "required",
                text(f"{name} is mandatory for a new product, and the file has no such column."),
            ),
        )
        for name, column in COLUMNS.items()
        if column.required and name not in fields
    ]
    start, end = "special_sale_price_start", "special_sale_price_end"
    if start in fields and end in fields:
        condition = SQL("b.{} < b.{} AND b.{} > '-infinity'").format(*map(Identifier, (end, start, end)))
        row_rules.append((end, RowRule(condition, "invalid", text(f"{end} is before its start."))))
    for name in OF_GTIN:
        if "gtin" in fields and name in fields:
            condition = SQL("length(b.gtin) IN {} AND b.{} NOT IN ('', b.gtin)").format(
                SQL(OF_GTIN[name]),
                Identifier(name),
            )
            row_rules.append(
                ("gtin", RowRule(condition, "contradiction", text(f"Is a different number from the {name}.")))
            )
    return row_rules
