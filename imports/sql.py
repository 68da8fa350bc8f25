"""Functions that execute composed SQL statements and return their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from psycopg.sql import SQL, Composable, Literal


def execute(query: Composable) -> int:
    """Execute a statement and return the number of affected rows."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.rowcount)


def row(query: Composable) -> tuple[Any, ...]:
    """Return the only row of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return tuple(cursor.fetchone())


def value(query: Composable) -> Any:
    """Return the only value of a query."""
    return row(query)[0]


def joined(texts: Sequence[Composable], separator: str) -> Composable:
    """Return SQL that joins the texts that are not NULL.

    A function call would take at most 100 texts; an array takes any number.
    """
    array = SQL("ARRAY[{}]::text[]").format(SQL(", ").join(texts))
    return SQL("array_to_string({}, {})").format(array, Literal(separator))
