"""Answers that their clients have not read yet: the event loop sends them, without a thread."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator

from config.web.connection import Connection
from config.web.greed import first_of_greediest
from config.web.outlet import CutOff

MOST_UNSENT_IN_ALL = 128 * 1024 * 1024
"""The limit of unread answer bytes in one process. Above it, the party with most bytes is cut off."""

Watch = Callable[[Connection, Callable[[Connection], None], int], None]


class Sending:
    """The connections whose clients have not read their whole answer."""

    def __init__(
        self, *, watch: Watch, unwatch: Callable[[Connection], None], sent: Callable[[Connection], None]
    ) -> None:
        """Set the callback `sent` for connections whose thread is done and whose answer is sent or cut."""
        self._watch, self._unwatch, self._sent = watch, unwatch, sent
        self._connections: dict[Connection, None] = {}

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def begin(self, connection: Connection) -> None:
        """Send the rest of this answer, if there is any, when the client reads."""
        if connection.sock.unsent and connection not in self._connections:
            self._connections[connection] = None
            self._watch(connection, self._send, selectors.EVENT_WRITE)
            self._relieve()

    def answered(self, connection: Connection) -> None:
        """Note that the thread is done."""
        connection.is_answered = True
        self.begin(connection)
        if connection not in self._connections:
            self._sent(connection)

    def cut(self, connection: Connection) -> None:
        """Give up on a client."""
        connection.sock.cut()
        self._end(connection)

    def cut_overdue(self, now: float) -> int:
        """Cut off the clients that read too slowly; return how many."""
        overdue = [each for each in self if each.sock.is_cut or each.sock.is_overdue(now)]
        for connection in overdue:
            self.cut(connection)
        return len(overdue)

    def cut_all(self) -> None:
        """End every answer, so that no thread waits for a client."""
        for connection in list(self):
            self.cut(connection)

    def _send(self, connection: Connection) -> None:
        try:
            is_sent = connection.sock.flush()
        except CutOff:
            is_sent = True
        if is_sent:
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        self._unwatch(connection)
        del self._connections[connection]
        if connection.is_answered:
            self._sent(connection)

    def _relieve(self) -> None:
        """Bound the memory: the party with the most unread bytes loses its oldest answer."""
        while sum(connection.sock.unsent for connection in self) > MOST_UNSENT_IN_ALL:
            oldest_first = sorted(self, key=lambda each: each.sock.since)
            first = first_of_greediest(oldest_first, lambda each: each.party, lambda each: each.sock.unsent)
            assert first is not None  # the sum is above the limit, so there is a connection
            self.cut(first)
