"""The first read of a request shows by itself whether the connection that was kept for it is alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")


def asked_first(read: Callable[[], T]) -> T:
    """What `read` answers, without the `SELECT 1` by which Django tries a kept connection first.

    `read` changes nothing: where the connection turns out to be dead, it is called once more on a new one.
    """
    kept: Any = connection  # Django's types do not say what it keeps about its health
    if kept.connection is None or kept.health_check_done or kept.in_atomic_block:
        return read()
    kept.health_check_done = True
    try:
        return read()
    except (OperationalError, InterfaceError):
        if connection.is_usable():
            raise
        connection.close()
        return read()
