"""Prefetching: PostgreSQL reads the next chunk while the service writes the current chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Self

from django.db import connection

from fastdb.rows import R, rows_of


class Prefetcher:
    """A thread that runs statements, one at a time, over the database connection of its creator.

    A second connection for each pull would halve the number of pulls that can run.
    """

    def __enter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="prefetcher")
        return self

    def __exit__(self, *_: object) -> None:
        # Wait for the submitted statement, which uses the connection until its end.
        self._thread.shutdown()

    def submit(self, statement: str, params: Mapping[str, Any], row: type[R]) -> Callable[[], list[R]]:
        """Start a statement. The returned function waits for the rows, and raises the statement's errors."""
        cursor, started = connection.cursor(), Event()

        def run() -> None:
            started.set()
            cursor.execute(statement, params)

        future = self._thread.submit(run)
        # Wait until the prefetcher's thread runs. Otherwise the caller's thread could write its whole chunk
        # before the statement starts.
        started.wait()

        def rows() -> list[R]:
            future.result()
            with cursor:
                return rows_of(cursor, row)

        return rows
