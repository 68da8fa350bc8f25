"""Prefetching: PostgreSQL reads the next chunk while the last one is being written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Self

from django.db import connection

from fastdb.rows import R, rows_of


class Prefetcher:
    """A thread that waits for statements, one at a time, over the connection of its user.

    Not over one of its own: a pull that held two would halve how many can run at once.
    """

    def __enter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="prefetcher")
        return self

    def __exit__(self, *_: object) -> None:
        # Waits for what was submitted: until then the connection is not free for anything else.
        self._thread.shutdown()

    def submit(self, statement: str, params: Mapping[str, Any], row: type[R]) -> Callable[[], list[R]]:
        """Begin a statement; what is returned waits for its rows, and raises what it raised."""
        cursor, started = connection.cursor(), Event()

        def run() -> None:
            started.set()
            cursor.execute(statement, params)

        future = self._thread.submit(run)
        # The thread gets the interpreter only when we wait; else it would begin when we have nothing to do.
        started.wait()

        def rows() -> list[R]:
            future.result()
            with cursor:
                return rows_of(cursor, row)

        return rows
