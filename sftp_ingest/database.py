"""The database, as threads use it that live as long as a client stays."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

ALIAS = "default"
MOST = 20  # connections of one server, however many sessions it has
IDLE_SECONDS, WAIT_SECONDS = 10.0, 20.0

_slots = threading.BoundedSemaphore(MOST)
_idle: list[tuple[float, BaseDatabaseWrapper]] = []
_thread = threading.local()


@contextmanager
def own_connection() -> Iterator[None]:
    """A database connection for this block: a session may idle for minutes, and must not keep one.

    For blocks that only ask the database. Within such a block it does nothing. Raises OperationalError.
    """
    if getattr(_thread, "has_one", False):
        yield
        return
    if not _slots.acquire(timeout=WAIT_SECONDS):
        raise OperationalError("No connection to the database is free.")
    try:
        with _borrowed():
            yield
    finally:
        _slots.release()


@contextmanager
def _borrowed() -> Iterator[None]:
    former, borrowed = connections[ALIAS], _borrow()
    connections[ALIAS] = borrowed
    _thread.has_one = True
    try:
        yield
    finally:
        _thread.has_one = False
        connections[ALIAS] = former
        _give_back(borrowed)


def _borrow() -> BaseDatabaseWrapper:
    with suppress(IndexError):
        _, found = _idle.pop()
        found.close_if_unusable_or_obsolete()
        return found
    made = connections.create_connection(ALIAS)
    made.inc_thread_sharing()
    return made


def _give_back(connection: BaseDatabaseWrapper) -> None:
    if connection.in_atomic_block:  # whoever left it so has lost the database
        if connection.connection is not None:
            connection.connection.close()
        return
    if connection.errors_occurred:
        with suppress(DatabaseError):
            connection.close()
    _idle.append((time.monotonic(), connection))


def close_idle(seconds: float = IDLE_SECONDS) -> None:
    """Close the connections that nobody has used for so long."""
    # Meanwhile other threads take some, so that there may be none where there was one.
    with suppress(IndexError):
        while _idle[0][0] <= time.monotonic() - seconds:
            with suppress(DatabaseError):
                _idle.pop(0)[1].close()
