"""Certain races: callers meet after they have read and before they write, if the locks let them."""

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

SHORTLY = 0.4  # seconds to wait for a caller that the locks keep away
CERTAINLY = 20.0  # seconds to wait for a caller without locks, which comes even on a busy machine


def race(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls concurrently, each on its own connection; return the message of an error."""
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
    """Let callers of a function meet once after it has read. The control lets them meet without any lock."""
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
    """The control: the same code without FOR UPDATE and without the check of the remaining stock."""
    unguarded = seen_stock.TAKE.replace("available < taken", "FALSE")
    assert unguarded != seen_stock.TAKE
    with (
        mock.patch.object(QuerySet, "select_for_update", lambda self, **_: self.all()),
        # Compiled queries are compiled once. Compiled here, they would stay without locks in later tests.
        mock.patch.object(reservations, "_locked_rows", reservations.stock_rows),
        mock.patch.object(seen_stock, "TAKE", unguarded),
    ):
        yield


def waiting(parties: int) -> None:
    """Return when a number of sessions wait for a database lock."""
    until = time.monotonic() + CERTAINLY
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            # Count only this database, since other test runs share the server.
            cursor.execute(
                "SELECT pg_stat_clear_snapshot() IS NULL, count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[1] >= parties:
                return
            cursor.execute("SELECT pg_sleep(0.002)")
    raise AssertionError("they do not meet")
