"""Answers to /readyz. One separate thread asks the database for all waiting clients."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from config.health import readiness
from config.web import answers
from config.web.connection import Connection

ANSWER_WITHIN = 1.5
"""Seconds until the database counts as silent. The event loop checks this four times a second."""
REUSED_FOR = 1.0
"""Seconds for which an answer of the database is reused."""


class Readiness:
    """The clients that wait for the state of the database."""

    def __init__(
        self,
        *,
        defer: Callable[..., None],
        give: Callable[[Connection, bytes], None],
        check: Callable[[], str],
    ) -> None:
        """`defer` calls a function in the event loop; `give` sends an answer; `check` asks the database."""
        self._defer, self._give, self._check = defer, give, check
        self._waiting: dict[Connection, float] = {}
        self._asked: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_asking = False
        self._state, self._known_at = "", -REUSED_FOR

    def ask(self, connection: Connection) -> None:
        """Answer this client as soon as the state is known."""
        now = time.monotonic()
        if now - self._known_at < REUSED_FOR:
            self._answer(connection, self._state)
            return
        self._waiting[connection] = now
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="readiness", daemon=True)
            self._thread.start()
        if not self._is_asking:
            self._is_asking = True
            self._asked.put(now)

    def answer_overdue(self, now: float) -> None:
        """Tell the clients that have waited too long that the database does not answer."""
        for connection in [each for each, since in self._waiting.items() if now - since > ANSWER_WITHIN]:
            del self._waiting[connection]
            self._answer(connection, readiness.SILENT)

    def _work(self) -> None:
        while True:
            asked_at = self._asked.get()
            self._defer(self._know, self._check(), asked_at)

    def _know(self, state: str, asked_at: float) -> None:
        self._is_asking = False
        self._state, self._known_at = state, asked_at
        waiting, self._waiting = self._waiting, {}
        for connection in waiting:
            self._answer(connection, state)

    def _answer(self, connection: Connection, state: str) -> None:
        self._give(connection, answers.readiness(connection.arrival.request, state))
