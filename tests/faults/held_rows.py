"""A session that locks rows and does nothing, like a stuck process or a forgotten psql."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import QuerySet


@contextmanager
def held(rows: QuerySet[Any]) -> Iterator[None]:
    """Lock these rows in a transaction of another session, which stays open during the block."""
    names, params = rows.values("pk").order_by().query.sql_with_params()
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(f"{names} FOR UPDATE", params)
            assert cursor.fetchall(), "there is no row to lock"
            yield
    finally:
        other.close()
