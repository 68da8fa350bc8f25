"""Database connections for threads that live as long as a client stays connected."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

ALIAS = "default"
MOST = 20  # the most connections of one server, even with more sessions
IDLE_SECONDS, WAIT_SECONDS = 10.0, 20.0

_slots = threading.BoundedSemaphore(MOST)
_idle: list[tuple[float, BaseDatabaseWrapper]] = []
_thread = threading.local()


@contextmanager
def own_connection() -> Iterator[None]:
    """Borrow a database connection for this block, because an idle session must not keep a connection.

    Use this for blocks that only query the database. A nested call uses the outer connection. Raises
    OperationalError if no connection becomes free.
    """
    if getattr(_thread, "has_one", False):
        yield
        return
    if not _slots.acquire(timeout=WAIT_SECONDS):
        raise OperationalError("All database connections of this server are in use.")
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
        _, idle = _idle.pop()
        idle.close_if_unusable_or_obsolete()
        return idle
    new = connections.create_connection(ALIAS)
    new.inc_thread_sharing()
    return new


def _give_back(connection: BaseDatabaseWrapper) -> None:
    if connection.in_atomic_block:  # the block lost its connection within a transaction
        if connection.connection is not None:
            connection.connection.close()
        return
    if connection.errors_occurred:
        with suppress(DatabaseError):
            connection.close()
    _idle.append((time.monotonic(), connection))


def close_idle(seconds: float = IDLE_SECONDS) -> None:
    """Close the connections that were idle for this many seconds."""
    # Other threads borrow concurrently, so the list may become empty at any moment.
    with suppress(IndexError):
        while _idle[0][0] <= time.monotonic() - seconds:
            with suppress(DatabaseError):
                _idle.pop(0)[1].close()
