"""The rules of a product file's rows, beyond the checks of single values."""

from __future__ import annotations

from collections.abc import Collection

from psycopg.sql import SQL, Composable, Identifier, Literal

from catalog.importing.columns import COLUMNS, OF_GTIN
from imports.pipeline.columns import RowRule, text
from imports.pipeline.context import ImportContext

START, END = "special_sale_price_start", "special_sale_price_end"


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
    return [*row_rules, *_rules_of_sale(fields), *_rules_of_gtin(fields)]


def stored_values(fields: Collection[str]) -> dict[str, Composable]:
    """Return columns of a batch with stored values, to compare them with values of the file.

    For example, if the file has only the start of a sale, the start must agree with the stored end. `v` is
    the stored variant.
    """
    names = []
    if len({START, END} & {*fields}) == 1:
        names += [name for name in (START, END) if name not in fields]
    if OF_GTIN.keys() & {*fields} and "gtin" not in fields:
        names.append("gtin")
    return {f"stored_{name}": SQL("v.{}").format(Identifier(name)) for name in names}


def _rules_of_sale(fields: Collection[str]) -> list[tuple[str, RowRule]]:
    """Refuse a sale that ends before it starts."""
    if START in fields and END in fields:
        field, message, start, end = END, f"{END} is before its start.", START, END
    elif END in fields:
        message = f"{END} is before the stored {START}. Send both."
        field, start, end = END, f"stored_{START}", END
    elif START in fields:
        message = f"{START} is after the stored {END}. Send both."
        field, start, end = START, START, f"stored_{END}"
    else:
        return []
    condition = SQL("b.{} < b.{} AND b.{} > '-infinity'").format(*map(Identifier, (end, start, end)))
    return [(field, RowRule(condition, "invalid", text(message)))]


def _rules_of_gtin(fields: Collection[str]) -> list[tuple[str, RowRule]]:
    """Refuse a UPC or EAN that contradicts the GTIN of the file, or else the stored GTIN."""
    rules = []
    for name, lengths in OF_GTIN.items():
        if name not in fields:
            continue
        if "gtin" in fields:
            field, gtin, message = "gtin", "gtin", text(f"Is a different number from the {name}.")
        else:
            field, gtin = name, "stored_gtin"
            differs = Literal(f"{name} is another number than the stored gtin, ")
            message = SQL("{} || b.stored_gtin || '. Send both.'").format(differs)
        condition = SQL("length(b.{gtin}) IN {lengths} AND b.{name} NOT IN ('', b.{gtin})").format(
            gtin=Identifier(gtin), lengths=SQL(lengths), name=Identifier(name)
        )
        rules.append((field, RowRule(condition, "contradiction", message)))
    return rules
