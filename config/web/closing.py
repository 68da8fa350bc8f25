"""The closing of connections after their last answer.

If a connection is closed with unread bytes, the kernel resets it, and the client may lose the answer.
Therefore the client's bytes are read before the connection is closed, up to LINGER_SECONDS and LINGER_BYTES.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Iterator

from config.web.connection import Connection
from config.web.sending import Watch

LINGER_SECONDS, LINGER_BYTES = 5.0, 64 * 1024 * 1024
RECEIVED_AT_ONCE = 256 * 1024


class Closing:
    """The connections that have sent their answer and wait for the client to close its side."""

    def __init__(
        self, *, watch: Watch, unwatch: Callable[[Connection], None], close: Callable[[Connection], None]
    ) -> None:
        self._watch, self._unwatch, self._close = watch, unwatch, close
        self._connections: dict[Connection, float] = {}

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._connections)

    def __contains__(self, connection: Connection) -> bool:
        return connection in self._connections

    def begin(self, connection: Connection) -> None:
        """Close our side now. Close the connection when the client closes, or after LINGER_SECONDS."""
        try:
            if connection.sock.is_cut:
                raise ConnectionAbortedError
            connection.network.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)
            return
        self._connections[connection] = time.monotonic() + LINGER_SECONDS
        self._watch(connection, self._drain, selectors.EVENT_READ)
        self._drain(connection)

    def end(self, connection: Connection) -> None:
        """Close a connection now."""
        self._unwatch(connection)
        del self._connections[connection]
        self._close(connection)

    def end_overdue(self, now: float) -> None:
        """Close the connections that have waited for LINGER_SECONDS."""
        for connection in [each for each, until in self._connections.items() if until < now]:
            self.end(connection)

    def _drain(self, connection: Connection) -> None:
        try:
            gone = len(connection.network.recv(RECEIVED_AT_ONCE))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            gone = 0
        connection.drained += gone
        if not gone or connection.drained > LINGER_BYTES:
            self.end(connection)
