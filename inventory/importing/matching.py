"""Queries that find the variant, warehouse and stock level of a row of a stock file."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Identifier, Literal

from api.renderers import iso
from imports.models import LEFT_OUT
from imports.pipeline.context import ImportContext
from imports.pipeline.errors import Unreadable
from imports.pipeline.importer import Lookup
from imports.serializers.counted import ledger_begins
from imports.sql import execute, value
from inventory.elements import IdType
from inventory.models import Warehouse

TOO_OLD = "The file was counted at {}. Stock movements since then are no longer stored. Upload a newer count."

# The warehouse id of rows whose warehouse is unknown.
UNKNOWN_WAREHOUSE = Literal(0)
ALL_ROWS = SQL("true")


def moment(context: ImportContext) -> Composable:
    """Return the time of the file's count."""
    return SQL("{}::timestamptz").format(Literal(context.job.as_of))


def row_identifier(context: ImportContext) -> Composable:
    identifier = context.mapped.values["id"]
    if context.job.options["id_type"] == IdType.VARIANT_ID:
        return SQL("ltrim({}, '0')").format(identifier)
    return identifier


def row_warehouse(context: ImportContext) -> Composable:
    """Return the id of a row's warehouse: the file's only warehouse, or the warehouse that the row names.

    A row names a warehouse by its id or exact name.
    """
    if "warehouse" not in context.mapped.fields:
        return Literal(context.job.options["warehouse_id"])
    warehouses = Warehouse.objects.filter(supplier_id=context.supplier_id).order_by("pk")
    pairs = [(warehouse.name, warehouse.pk) for warehouse in warehouses]
    # Names come first: a name that looks like an id means the warehouse with that name.
    pairs += [(str(warehouse.pk), warehouse.pk) for warehouse in warehouses]
    whens = SQL(" ").join(SQL("WHEN {} THEN {}").format(Literal(name), Literal(pk)) for name, pk in pairs)
    if not pairs:
        return UNKNOWN_WAREHOUSE
    return SQL("(CASE {} {} ELSE {} END)").format(
        context.mapped.values["warehouse"], whens, UNKNOWN_WAREHOUSE
    )


def left_out(context: ImportContext) -> list[int]:
    """Return the warehouses that the operator left out when approving the file."""
    chosen = context.job.options.get(LEFT_OUT, [])
    # An approval by an earlier version has names instead of ids.
    names = [each for each in chosen if isinstance(each, str)]
    named = Warehouse.objects.filter(supplier_id=context.supplier_id, name__in=names) if names else ()
    return [each for each in chosen if isinstance(each, int)] + [warehouse.pk for warehouse in named]


def warehouse_ids(context: ImportContext, rows: Composable = ALL_ROWS) -> list[int]:
    """Return the warehouses whose stock these rows of the file set."""
    if "warehouse" not in context.mapped.fields:
        return [context.job.options["warehouse_id"]]
    query = SQL("SELECT array_agg(DISTINCT {}) FROM {} AS s WHERE {}")
    numbers = value(query.format(row_warehouse(context), context.staging.table, rows))
    unwanted = {0, *left_out(context)}
    return [number for number in numbers or [] if number not in unwanted]


def imported_warehouses(context: ImportContext) -> list[int]:
    """Return the warehouses for which at least one row of the file was imported."""
    imported = SQL("NOT EXISTS (SELECT FROM imports_reject AS r WHERE r.job_id = {} AND r.line = s.line)")
    return warehouse_ids(context, imported.format(Literal(context.job.pk)))


def key(context: ImportContext) -> list[Composable]:
    warehouse = row_warehouse(context)
    if "warehouse" not in context.mapped.fields:
        return [row_identifier(context), warehouse]
    # All unknown warehouses have the id 0. Add their names to the key, so that their rows are not duplicates.
    unknown = SQL("CASE WHEN {} = 0 THEN {} END").format(warehouse, context.mapped.values["warehouse"])
    return [row_identifier(context), warehouse, SQL("coalesce({}, '')").format(unknown)]


def own_warehouses(context: ImportContext) -> list[int]:
    """Return the warehouses that the file may name, without reading the file."""
    if "warehouse" not in context.mapped.fields:
        return [context.job.options["warehouse_id"]]
    return list(Warehouse.objects.filter(supplier_id=context.supplier_id).values_list("pk", flat=True))


def prepare(context: ImportContext) -> None:
    """Build a lookup table for id types without a unique index.

    Raises Unreadable if the file was counted before the oldest stored stock movement.
    """
    if context.job.as_of < ledger_begins():
        raise Unreadable("too_old", TOO_OLD.format(iso(context.job.as_of)))
    column = context.job.options["id_type"]
    if column in (IdType.SKU, IdType.VARIANT_ID):
        return
    execute(
        SQL(
            "DROP TABLE IF EXISTS {lookup};"
            " CREATE UNLOGGED TABLE {lookup} AS SELECT {column} AS key, min(id) AS id, count(*) AS times"
            " FROM catalog_variant WHERE supplier_id = {supplier} AND {column} <> '' GROUP BY {column};"
            " CREATE UNIQUE INDEX ON {lookup} (key); ANALYZE {lookup}"
        ).format(
            lookup=context.staging.lookup,
            column=Identifier(column),
            supplier=Literal(context.supplier_id),
        )
    )


def same_row(context: ImportContext) -> Composable:
    """Return the condition that a batch row, `b`, is a staged row, `s`.

    The line alone is not enough: one line of a file may become a row for each warehouse.
    """
    if "warehouse" not in context.mapped.fields:
        return SQL("s.line = b.line")
    return SQL("s.line = b.line AND {} = b.warehouse").format(context.mapped.values["warehouse"])


def variant_join(context: ImportContext) -> Composable:
    """Return the join that finds a row's variant `v`; `v.times` counts the matching variants."""
    identifier, kind = row_identifier(context), context.job.options["id_type"]
    supplier = context.supplier
    if kind == IdType.SKU:
        return SQL("LEFT JOIN catalog_variant AS v ON v.supplier_id = {} AND v.sku = {}").format(
            supplier, identifier
        )
    if kind == IdType.VARIANT_ID:
        return SQL(
            "LEFT JOIN catalog_variant AS v ON v.supplier_id = {} AND"
            " v.id = CASE WHEN {id} ~ '^[0-9]{{1,18}}$' THEN {id}::bigint END"
        ).format(supplier, id=identifier)
    return SQL("LEFT JOIN {} AS v ON v.key = {}").format(context.staging.lookup, identifier)


def lookup(context: ImportContext) -> Lookup:
    warehouse = row_warehouse(context)
    same_level = SQL("l.variant_id = v.id AND l.warehouse_id = {}").format(warehouse)
    joins = SQL("{} LEFT JOIN inventory_stocklevel AS l ON {}").format(
        variant_join(context), SQL("false") if context.first else same_level
    )
    shared = context.job.options["id_type"] not in (IdType.SKU, IdType.VARIANT_ID)
    columns = {
        "variant_id": SQL("v.id"),
        "warehouse_id": SQL("{}::bigint").format(warehouse),
        "level_id": SQL("l.id"),
        "counted_at": SQL("l.counted_at"),
        "times": SQL("v.times") if shared else SQL("1"),
        "units": SQL("NULL::bigint"),
    }
    # No row counts as unchanged: a count of the same number still changes the time of the count.
    return Lookup(joins, columns, unchanged=SQL("false"))


def named_in_file(context: ImportContext) -> Composable:
    """Return a query for the variant, warehouse and quantity of each row."""
    if context.job.options["id_type"] in (IdType.SKU, IdType.VARIANT_ID):
        joined, variant = variant_join(context), SQL("v.id")
    else:
        # A code shared by several variants matches all of them.
        column = Identifier(context.job.options["id_type"])
        joined = SQL("JOIN catalog_variant AS v ON v.supplier_id = {} AND v.{} = {}").format(
            context.supplier, column, row_identifier(context)
        )
        variant = SQL("v.id")
    return SQL("SELECT {} AS variant_id, {}::bigint AS warehouse_id, {} AS quantity FROM {} AS s {}").format(
        variant,
        row_warehouse(context),
        context.mapped.values["quantity"],
        context.staging.table,
        joined,
    )


def counted_before(context: ImportContext) -> Composable:
    """Return the condition that the count of the stock level `l` is not newer than the file's count."""
    return SQL("(l.counted_at IS NULL OR l.counted_at <= {})").format(moment(context))
