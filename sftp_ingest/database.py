"""The database, as threads use it that live as long as a client stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def own_connection() -> Iterator[None]:
    """A database connection for this block: a session may idle for minutes, and must not keep one."""
    try:
        yield
    finally:
        connection.close()
