"""Queries that find the variant of a row of a product file, and detect unchanged rows."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Identifier

from catalog.importing.columns import CHECKED, COLUMNS, OF_GTIN, TABLE, column_of
from catalog.importing.rules import stored_values
from imports.pipeline.barcode_columns import Barcode
from imports.pipeline.columns import MomentColumn, TextColumn, Urls
from imports.pipeline.context import ImportContext
from imports.pipeline.importer import Lookup
from imports.pipeline.number_columns import NumberColumn


def lookup(context: ImportContext) -> Lookup:
    values = context.mapped.values
    same_sku = SQL("v.supplier_id = {} AND v.sku = {}").format(context.supplier, values["sku"])
    joins = SQL("LEFT JOIN {} AS v ON {}").format(TABLE, SQL("false") if context.first else same_sku)
    same = [
        _same(name, new, context.mapped.untouched(name))
        for name, new in values.items()
        if name not in ("sku", *CHECKED)
    ]
    same += [
        SQL("NOT ({})").format(rule.condition)
        for name in CHECKED & values.keys()
        for rule in context.mapped.columns[name].rules(values[name], values[name])
    ]
    same += [
        SQL("(length({0}) NOT IN {1} OR v.{2} = {0})").format(values["gtin"], SQL(lengths), Identifier(name))
        for name, lengths in OF_GTIN.items()
        if "gtin" in values
    ]
    unchanged = SQL(" AND ").join([SQL("v.id IS NOT NULL"), *same])
    return Lookup(joins, {"variant_id": SQL("v.id"), **stored_values(context.mapped.fields)}, unchanged)


def _same(name: str, new: Composable, raw: Composable | None) -> Composable:
    stored = SQL("v.{}").format(column_of(name))
    if name == "listed":
        return SQL("({0} = '' OR {0} = {1}::text)").format(new, stored)
    if isinstance(COLUMNS[name], NumberColumn | MomentColumn):
        return SQL("{} IS NOT DISTINCT FROM {}").format(stored, new)
    if raw is not None and isinstance(COLUMNS[name], TextColumn | Barcode | Urls):
        # Compare the raw cell first: most cells equal the stored value without trimming.
        return SQL("({0} = {1} OR {0} = {2})").format(stored, raw, new)
    return SQL("{} = {}").format(stored, new)
