"""Write a batch of product rows: update existing variants and insert new variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import NOT_PROVIDED, Field
from psycopg.sql import SQL, Composable, Identifier, Literal
from psycopg.types.json import Jsonb

from catalog.importing.columns import CHECKED, OF_GTIN, STORED, TABLE
from catalog.models import Variant
from events.changes import LONGEST
from imports.pipeline.context import BATCH, BatchResult, ImportContext
from imports.sql import execute, row


def land(context: ImportContext) -> BatchResult:
    targets = _targets(context)
    existing, missing = row(
        SQL("SELECT count(variant_id), count(*) - count(variant_id) FROM {}").format(BATCH)
    )
    updated = _update(context, targets) if existing else 0
    created, updated_instead = _insert(context, targets) if missing else (0, 0)
    return BatchResult(created, updated + updated_instead)


def _targets(context: ImportContext) -> dict[str, Composable]:
    """Return SQL for the new value of each column. NULL keeps the old value of `listed`, `upc` and `ean`."""
    fields = [name for name in context.mapped.fields if name not in CHECKED]
    targets: dict[str, Composable] = {}
    targets |= {STORED.get(name, name): SQL("b.{}").format(Identifier(name)) for name in fields}
    if "listed" in fields:
        targets["listed"] = SQL("nullif(b.listed, '')::boolean")
    for name, lengths in OF_GTIN.items():
        if "gtin" in fields:
            explicit = SQL("b.{}").format(Identifier(name)) if name in fields else SQL("NULL").format()
            targets[name] = SQL("CASE WHEN length(b.gtin) IN {} THEN b.gtin ELSE {} END").format(
                SQL(lengths),
                explicit,
            )
    return targets


def _keeps(name: str, targets: Mapping[str, Composable]) -> bool:
    return name == "listed" or (name in OF_GTIN and "gtin" in targets)


def _update(context: ImportContext, targets: Mapping[str, Composable]) -> int:
    """Update existing variants and store their history. Lock them in order of id to avoid deadlocks."""
    names = [name for name in targets if name != "sku"]
    if not names:
        return 0
    news = [
        SQL("coalesce({}, v.{})").format(targets[name], Identifier(name))
        if _keeps(name, targets)
        else targets[name]
        for name in names
    ]
    return execute(
        SQL(
            """
            WITH locked AS (
                SELECT b.*, jsonb_strip_nulls(jsonb_build_object({old_and_new})) AS old_and_new
                FROM {batch} AS b JOIN {table} AS v ON v.id = b.variant_id WHERE {differ}
                ORDER BY v.id FOR NO KEY UPDATE OF v
            ), history AS (
                INSERT INTO catalog_variantchange (variant_id, changed, import_id, line)
                SELECT variant_id, old_and_new, {job}, line FROM locked
            )
            UPDATE {table} AS v SET {changes}, updated_at = clock_timestamp()
            FROM locked AS b WHERE v.id = b.variant_id
            """
        ).format(
            table=TABLE,
            batch=BATCH,
            job=Literal(context.job.pk),
            old_and_new=SQL(", ").join(
                SQL("{}, CASE WHEN {old} IS DISTINCT FROM {new} THEN {pair} END").format(
                    Literal(name),
                    old=SQL("v.{}").format(Identifier(name)),
                    new=new,
                    pair=SQL("jsonb_build_object('from', {}, 'to', {})").format(
                        _shown(name, SQL("v.{}").format(Identifier(name))), _shown(name, new)
                    ),
                )
                for name, new in zip(names, news, strict=True)
            ),
            changes=SQL(", ").join(
                SQL("{} = {}").format(Identifier(name), new) for name, new in zip(names, news, strict=True)
            ),
            differ=SQL(" OR ").join(
                SQL("v.{} IS DISTINCT FROM {}").format(Identifier(name), new)
                for name, new in zip(names, news, strict=True)
            ),
        )
    )


def _shown(name: str, value: Composable) -> Composable:
    """Format a value for a variant's history: prices without padding zeros, long texts cut."""
    if Variant._meta.get_field(name).get_internal_type() == "DecimalField":
        return SQL("trim_scale({})::text").format(value)
    return SQL("left({}::text, {})").format(value, Literal(LONGEST))


def _insert(context: ImportContext, targets: Mapping[str, Composable]) -> tuple[int, int]:
    """Insert new variants, and update the variants that another transaction inserted first."""
    try:
        # Try without ON CONFLICT: concurrent inserts are rare, and the check costs a fifth of the time.
        with transaction.atomic():
            return execute(_insertion(context)), 0
    except IntegrityError:
        created = execute(SQL("{} ON CONFLICT (supplier_id, sku) DO NOTHING").format(_insertion(context)))
        execute(
            SQL(
                "UPDATE {} AS b SET variant_id = v.id FROM {} AS v"
                " WHERE b.variant_id IS NULL AND v.supplier_id = {} AND v.sku = b.sku"
            ).format(BATCH, TABLE, Literal(context.supplier_id))
        )
        return created, _update(context, targets)


def _insertion(context: ImportContext) -> Composable:
    targets = _targets(context)
    columns: dict[str, Composable] = {"supplier_id": Literal(context.supplier_id)}
    columns |= defaults()
    for name, new in targets.items():
        columns[name] = SQL("coalesce({}, {})").format(new, columns[name]) if _keeps(name, targets) else new
    return SQL(
        "INSERT INTO {table} AS v ({columns}, created_at, updated_at)"
        " SELECT {values}, clock_timestamp(), clock_timestamp()"
        " FROM {batch} AS b WHERE b.variant_id IS NULL"
    ).format(
        table=TABLE,
        batch=BATCH,
        columns=SQL(", ").join(map(Identifier, columns)),
        values=SQL(", ").join(columns.values()),
    )


def defaults() -> dict[str, Composable]:
    """Return the model's default for each column. The insert uses it for columns that the file leaves out."""
    values: dict[str, Composable] = {}
    for field in Variant._meta.local_concrete_fields:
        automatic = field.primary_key or field.generated or field.db_default is not NOT_PROVIDED
        if not automatic and field.name != "supplier":
            values[str(field.column)] = _default_of(field)
    return values


def _default_of(field: Field[Any, Any]) -> Composable:
    default = field.get_default()
    if field.get_internal_type() == "JSONField":
        return Literal(Jsonb(default))
    if field.get_internal_type() == "ArrayField":
        return Literal("{}")
    return Literal(default)
