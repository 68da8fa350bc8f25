"""Races that always happen: all callers have read before the first caller writes, unless locks stop them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from unittest import mock

from django.db import IntegrityError, connection
from django.db.models import QuerySet

from api.errors import ApiError
from inventory import reservations, seen_stock

SHORTLY = 0.4  # seconds to wait for a caller that should be stopped by a lock
CERTAINLY = 20.0  # seconds to wait for a caller that no lock stops; enough on a busy machine


def race(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls concurrently, each on its own connection, and return their results.

    The result of a call that raised an ApiError is the error's code.
    """
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=60)
            return call()
        except ApiError as error:
            return error.code
        except IntegrityError:
            return "refused by the database"
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result(timeout=300) for each in [pool.submit(run, call) for call in calls]]


@contextmanager
def meeting_after(target: Any, name: str, *, parties: int = 2, locking: bool = True) -> Iterator[None]:
    """Make the first callers of a function wait for each other after the function has returned.

    The function is the attribute `name` of `target`, and `parties` is the number of callers. With
    `locking=False`, nothing is locked, so that a test can prove that it fails without the locks.
    """
    barrier, original = threading.Barrier(parties), getattr(target, name)
    timeout = SHORTLY if locking else CERTAINLY

    def met(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(timeout=timeout)
        return found

    with nullcontext() if locking else without_row_locks(), mock.patch.object(target, name, met):
        yield


@contextmanager
def without_row_locks() -> Iterator[None]:
    """Run the block without FOR UPDATE and without the check of the remaining stock."""
    unguarded = seen_stock.TAKE.replace("available < taken", "FALSE")
    assert unguarded != seen_stock.TAKE
    with (
        mock.patch.object(QuerySet, "select_for_update", lambda self, **_: self.all()),
        # Replace the compiled query. A query that is compiled now has no lock, and later tests in this
        # process would use it.
        mock.patch.object(reservations, "_locked_rows", reservations.stock_rows),
        mock.patch.object(seen_stock, "TAKE", unguarded),
    ):
        yield


def waiting(parties: int) -> None:
    """Return as soon as this number of sessions waits for a database lock.

    Raises AssertionError after 20 seconds.
    """
    until = time.monotonic() + CERTAINLY
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            # Count only this database, because other test runs use the same server.
            cursor.execute(
                "SELECT pg_stat_clear_snapshot() IS NULL, count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[1] >= parties:
                return
            cursor.execute("SELECT pg_sleep(0.002)")
    raise AssertionError(f"no {parties} sessions wait for a lock")
