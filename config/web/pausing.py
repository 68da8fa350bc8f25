"""Pauses before answers to strangers, which are clients without an accepted credential.

The pauses keep floods of cheap requests from taking time from other parties.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

from config.web.connection import Connection
from config.web.parties import Stranger

PAUSE_SECONDS = 1.0
AT_ONCE = 25
"""The cheap answers per second that one address gets without a pause. Proxies and monitors need fewer."""


class Pausing:
    """The connections of strangers that wait for their answer.

    The event loop itself refuses malformed requests and answers health checks, so the limits of threads do
    not apply to these answers. Without a pause, a few clients at full speed would take the interpreter lock
    from all threads.
    """

    def __init__(self, *, close: Callable[[Connection], None]) -> None:
        self._close = close
        self._waiting: dict[Connection, tuple[float, Callable[[], None]]] = {}
        self._counts: Counter[Stranger] = Counter()
        self._counted_until = 0.0

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._waiting)

    def __contains__(self, connection: Connection) -> bool:
        return connection in self._waiting

    def begin(self, connection: Connection, answer: Callable[[], None]) -> None:
        """Call `answer` after the pause."""
        self._waiting[connection] = time.monotonic() + PAUSE_SECONDS, answer

    def answer_cheaply(self, connection: Connection, answer: Callable[[], None]) -> None:
        """Call `answer` now, or after a pause if this stranger already had AT_ONCE answers in this second."""
        if connection.is_strange and self._is_crowded(connection.stranger, time.monotonic()):
            self.begin(connection, answer)
        else:
            answer()

    def drop(self, connection: Connection) -> None:
        """Close a connection without an answer."""
        del self._waiting[connection]
        self._close(connection)

    def end_overdue(self, now: float) -> None:
        """Answer the connections whose pause is over."""
        for connection in [each for each, (until, _) in self._waiting.items() if until < now]:
            _, answer = self._waiting.pop(connection)
            answer()

    def _is_crowded(self, stranger: Stranger, now: float) -> bool:
        if now >= self._counted_until:
            self._counts.clear()
            self._counted_until = now + 1.0
        self._counts[stranger] += 1
        return self._counts[stranger] > AT_ONCE
