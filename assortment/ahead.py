"""Asking ahead: PostgreSQL reads on while what it last found is being written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Self

from django.db import connection


class Ahead:
    """A thread that waits for statements, one at a time, over the connection of whoever asks.

    Not over one of its own: a pull that held two would halve how many can run at once.
    """

    def __enter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        return self

    def __exit__(self, *_: object) -> None:
        # Waits for what was asked: until then the connection is not free for anything else.
        self._thread.shutdown()

    def ask(self, statement: str, params: Mapping[str, Any]) -> Callable[[], list[Any]]:
        """Begin with a statement; what is returned waits for its rows, and raises what it raised."""
        cursor, begun = connection.cursor(), Event()

        def run() -> None:
            begun.set()
            cursor.execute(statement, params)

        asked = self._thread.submit(run)
        # The thread gets the interpreter only when we wait; else it would begin when we have nothing to do.
        begun.wait()

        def rows() -> list[Any]:
            asked.result()
            with cursor:
                found: list[Any] = cursor.fetchall()
            return found

        return rows
