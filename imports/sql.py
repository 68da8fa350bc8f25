"""Helpers for composed statements and their results."""

from __future__ import annotations

from typing import Any

from django.db import connection
from psycopg.sql import Composable


def execute(query: Composable) -> int:
    """Execute a statement; return the number of affected rows."""
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
