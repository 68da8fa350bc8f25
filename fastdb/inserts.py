"""New rows of one model in one statement, at a fraction of what `bulk_create` costs: most of that is the
writing of the statement, which is kept here.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Field, ForeignKey, Model
from django.db.models.expressions import DatabaseDefault

Row = tuple[Any, ...]
PLAIN: dict[str, type] = {
    "BigAutoField": int,
    "BigIntegerField": int,
    "BooleanField": bool,
    "CharField": str,
    "PositiveIntegerField": int,
    "TextField": str,
}
"""Types of columns, and the Python type that goes to the database as it is: most values do."""


def insert(instances: Sequence[Model]) -> None:
    """Save new instances of one model; each is given its id and what the database set by default.

    As with `bulk_create` there are no signals. A column with a database default is set by all or by none.
    """
    if instances:
        rows = _insert(instances)
        for instance, row in zip(instances, rows, strict=True):
            _saved(instance, row)


def insert_unless_there(instance: Model, *unique: str) -> bool:
    """Save a new instance if none has the same values in these columns, which are unique; say whether it was.

    Waits for the transaction of a twin that is on its way.
    """
    quoted = ", ".join(connection.ops.quote_name(column) for column in unique)
    rows = _insert([instance], f"ON CONFLICT ({quoted}) DO NOTHING")
    if rows:
        _saved(instance, rows[0])
    return bool(rows)


def _insert(instances: Sequence[Model], otherwise: str = "") -> list[Row]:
    model = type(instances[0])
    given = tuple(
        field for field in _defaulting(model) if not _by_default(getattr(instances[0], field.attname))
    )
    fields, beginning, values, returning = _statement(model, given)
    database = connections[DEFAULT_DB_ALIAS]  # asking the thread's own for each value would take longer
    params = []
    for each in instances:
        for field, plain in fields:
            value = getattr(each, field.attname)
            as_it_is = value is None or type(value) is plain
            params.append(value if as_it_is else field.get_db_prep_save(value, database))
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
    """The fields to be written, each with its plain type, and the pieces of the statement: its beginning, one
    row, what it returns.
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
