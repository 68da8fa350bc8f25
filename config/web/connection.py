"""A connected client, with its arriving request and its outgoing answer."""

from __future__ import annotations

import socket
import struct
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

from gunicorn.workers.gthread import TConn

from config.web.arrival import Arrival
from config.web.outlet import Outlet
from config.web.parties import Caller, Stranger, is_stranger

ABORT = struct.pack("ii", 1, 0)
"""The value of SO_LINGER that drops unsent bytes when the socket is closed."""


class Connection(TConn):
    """A connected client.

    gunicorn's code in a thread writes the answer to `sock`, an Outlet. The event loop uses the real socket,
    `network`.
    """

    sock: Outlet
    network: socket.socket
    arrival: Arrival
    caller: Caller | None = None
    party: Hashable = None
    rest: bytes = b""
    """Bytes that followed the request: the beginning of the next request."""
    held: int = 0
    """The bytes of this request that the worker's `buffered` includes."""
    is_answered: bool = False
    is_kept: bool = False
    """Whether the connection stays open for the client's next request."""
    drained: int = 0
    computed: float = 0.0
    """Seconds that the thread needed to compute the answer."""

    @property
    def stranger(self) -> Stranger:
        """The client's network as a party. Until the headers arrive, use the peer's address."""
        return self.caller.stranger if self.caller else Stranger(self.peer)

    @property
    def is_strange(self) -> bool:
        """Return whether the newest request has no credential that this process knows as accepted."""
        return self.party is None or is_stranger(self.party)

    @property
    def peer(self) -> str:
        return str(self.client[0]) if isinstance(self.client, tuple) else ""

    def init(self) -> None:
        """Do nothing: the event loop has read the request already."""
        self.initialized = True

    def give(self, request: object) -> None:
        """Pass this request to the thread that answers it."""
        self.data_ready, self.parser = True, _Parsed(request)

    def close(self, graceful: bool = False) -> None:
        """Close the socket. An answer that is not sent yet is dropped."""
        if self.sock.is_cut:
            with suppress(OSError):
                self.network.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.sock.cut()
        with suppress(OSError):
            self.network.close()


class _Parsed:
    """A replacement for gunicorn's parser. It returns one request that is parsed already."""

    def __init__(self, request: object) -> None:
        self._request = request

    def __next__(self) -> Any:
        return self._request

    def finish_body(self, deadline: float | None = None) -> bool:
        """Return True, because the event loop has read the whole body."""
        return True
