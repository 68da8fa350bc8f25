"""Statements that are composed, and their answers."""

from __future__ import annotations

from typing import Any

from django.db import connection
from psycopg.sql import Composable


def execute(query: Composable) -> int:
    """Execute a statement; return the rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.rowcount)


def row(query: Composable) -> tuple[Any, ...]:
    """The one row of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return tuple(cursor.fetchone())


def value(query: Composable) -> Any:
    """The one value of a query."""
    return row(query)[0]
