"""Inserts of new rows of one model with one statement, at a fraction of the cost of `bulk_create`.

`bulk_create` spends most of its time on writing the statement. This module caches the written statements.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Field, ForeignKey, Model
from django.db.models.expressions import DatabaseDefault

Row = tuple[object, ...]
PLAIN: dict[str, type] = {
    "BigAutoField": int,
    "BigIntegerField": int,
    "BooleanField": bool,
    "CharField": str,
    "PositiveIntegerField": int,
    "TextField": str,
}
"""The Python type that the driver accepts without conversion, by field type. Most values have this type."""


def insert(instances: Sequence[Model]) -> None:
    """Save new instances of one model, and set the id and the database defaults of each.

    Like `bulk_create`, this sends no signals. The caller must set a column with a database default on all
    instances, or on no instance.
    """
    if instances:
        rows = _insert(instances)
        for instance, row in zip(instances, rows, strict=True):
            _saved(instance, row)


def insert_unless_there(instance: Model) -> bool:
    """Save a new instance unless a row has the same values in unique columns. Return whether it was saved.

    The statement waits for a concurrent transaction that inserts the same values.
    """
    rows = _insert([instance], "ON CONFLICT DO NOTHING")
    if rows:
        _saved(instance, rows[0])
    return bool(rows)


def _insert(instances: Sequence[Model], otherwise: str = "") -> list[Row]:
    model = type(instances[0])
    given = tuple(
        field for field in _defaulting(model) if not _by_default(getattr(instances[0], field.attname))
    )
    fields, beginning, values, returning = _statement(model, given)
    database = connections[DEFAULT_DB_ALIAS]  # look up the connection once, not for each value
    params = []
    for instance in instances:
        for field, plain in fields:
            value = getattr(instance, field.attname)
            is_plain = value is None or type(value) is plain
            params.append(value if is_plain else field.get_db_prep_save(value, database))
    with database.cursor() as cursor:
        all_values = ", ".join([values] * len(instances))
        cursor.execute(f"{beginning} {all_values} {otherwise} {returning}", params)
        rows: list[Row] = cursor.fetchall()
    return rows


def _saved(instance: Model, row: Row) -> None:
    for field, value in zip(instance._meta.db_returning_fields, row, strict=True):
        setattr(instance, field.attname, value)
    instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS


def _by_default(value: object) -> bool:
    return isinstance(value, DatabaseDefault)


@functools.cache
def _defaulting(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    return tuple(field for field in model._meta.concrete_fields if field.has_db_default())


@functools.cache
def _statement(
    model: type[Model], given: tuple[Field[Any, Any], ...]
) -> tuple[list[tuple[Field[Any, Any], type | None]], str, str, str]:
    """Return the fields to write, each with its plain type, and the parts of the statement.

    The parts are the beginning, the placeholders of one row, and the RETURNING clause.
    """
    meta, quote = model._meta, connection.ops.quote_name
    fields = [
        field
        for field in meta.concrete_fields
        if not field.primary_key and not field.generated and (field in given or not field.has_db_default())
    ]
    columns = ", ".join(quote(str(field.column)) for field in fields)
    returned = ", ".join(quote(str(field.column)) for field in meta.db_returning_fields)
    return (
        [(field, _plain(field)) for field in fields],
        f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES",
        f"({', '.join(['%s'] * len(fields))})",
        f"RETURNING {returned}",
    )


def _plain(field: Field[Any, Any]) -> type | None:
    target = field.target_field if isinstance(field, ForeignKey) else field
    return PLAIN.get(target.get_internal_type())
