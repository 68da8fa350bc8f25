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
        if name not in ("sku", *CHECKED, *(OF_GTIN if "gtin" in values else ()))
    ]
    same += [
        SQL("NOT ({})").format(rule.condition)
        for name in CHECKED & values.keys()
        for rule in context.mapped.columns[name].rules(values[name], values[name])
    ]
    same += [_same_beside_gtin(name, context) for name in OF_GTIN if "gtin" in values]
    unchanged = SQL(" AND ").join([SQL("v.id IS NOT NULL"), *same])
    return Lookup(joins, {"variant_id": SQL("v.id"), **stored_values(context.mapped.fields)}, unchanged)


def _same_beside_gtin(name: str, context: ImportContext) -> Composable:
    """Return the condition that a row with a GTIN leaves the stored UPC or EAN unchanged.

    The GTIN fills in an empty number, as in `landing`. A number that contradicts the GTIN is never the same,
    because the rules must see its row.
    """
    values, stored = context.mapped.values, SQL("v.{}").format(Identifier(name))
    filled = SQL("length({}) IN {}").format(values["gtin"], SQL(OF_GTIN[name]))
    agrees = SQL("(NOT {} OR {} = {})").format(filled, stored, values["gtin"])
    if name not in values:
        return agrees
    given = _same(name, values[name], context.mapped.untouched(name))
    return SQL("({} AND ({} OR {} = '' AND {}))").format(agrees, given, values[name], filled)


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
