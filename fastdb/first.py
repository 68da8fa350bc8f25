"""The first read of a request, which also proves that the persistent connection is alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")


def read_first(read: Callable[[], T]) -> T:
    """Return the result of `read` without the `SELECT 1` by which Django tests a persistent connection.

    `read` must change nothing: if the connection is dead, `read` runs again on a new connection.
    """
    untyped: Any = connection  # Django's types lack the attributes about the connection's health
    if untyped.connection is None or untyped.health_check_done or untyped.in_atomic_block:
        return read()
    untyped.health_check_done = True
    try:
        return read()
    except (OperationalError, InterfaceError):
        if connection.is_usable():
            raise
        connection.close()
        return read()
