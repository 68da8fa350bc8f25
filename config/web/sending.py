"""The sending of unread answers by the event loop, without a thread."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator

from config.web.connection import Connection
from config.web.greed import first_of_greediest
from config.web.outlet import CutOff

MOST_UNSENT_IN_ALL = 128 * 1024 * 1024
"""The limit of unread answer bytes in a process. Above it, the party with the most bytes loses an answer."""

Watch = Callable[[Connection, Callable[[Connection], None], int], None]


class Sending:
    """The connections whose clients have not read their whole answer."""

    def __init__(
        self, *, watch: Watch, unwatch: Callable[[Connection], None], sent: Callable[[Connection], None]
    ) -> None:
        """`sent` is called for a connection when its thread is done and its answer is sent or cut off."""
        self._watch, self._unwatch, self._sent = watch, unwatch, sent
        self._connections: dict[Connection, None] = {}

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def begin(self, connection: Connection) -> None:
        """Send the rest of this answer, if any, as fast as the client reads."""
        if connection.sock.unsent and connection not in self._connections:
            self._connections[connection] = None
            self._watch(connection, self._send, selectors.EVENT_WRITE)
            self._relieve()

    def answered(self, connection: Connection) -> None:
        """Record that the thread of a connection is done."""
        connection.is_answered = True
        self.begin(connection)
        if connection not in self._connections:
            self._sent(connection)

    def cut(self, connection: Connection) -> None:
        """Cut off a client and drop its answer."""
        connection.sock.cut()
        self._end(connection)

    def cut_overdue(self, now: float) -> int:
        """Cut off the clients that read too slowly, and return their number."""
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
