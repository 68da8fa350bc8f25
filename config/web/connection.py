"""A connected client, with the request that comes in from it and the answer that goes out."""

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
    """A client. Its `sock` is the outlet, for gunicorn's code in a thread; the event loop has `network`."""

    sock: Outlet
    network: socket.socket
    arrival: Arrival
    caller: Caller | None = None
    party: Hashable = None
    rest: bytes = b""
    """Bytes that came behind the request."""
    held: int = 0
    """Bytes of the request, as the worker counts them."""
    is_answered: bool = False
    is_kept: bool = False
    """The client may send another request."""
    drained: int = 0
    computed: float = 0.0
    """Seconds that the thread has computed for the answer."""

    @property
    def stranger(self) -> Stranger:
        """The address of the client if the request's headers name it, else of the peer."""
        return self.caller.stranger if self.caller else Stranger(self.peer)

    @property
    def is_strange(self) -> bool:
        """Tell whether no accepted credential has come over this connection."""
        return self.party is None or is_stranger(self.party)

    @property
    def peer(self) -> str:
        return str(self.client[0]) if isinstance(self.client, tuple) else ""

    def init(self) -> None:
        """Do nothing: the event loop has read the request already."""
        self.initialized = True

    def give(self, request: Any) -> None:
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
    """gunicorn's parser of a connection, with one request that is parsed already."""

    def __init__(self, request: Any) -> None:
        self._request = request

    def __next__(self) -> Any:
        return self._request

    def finish_body(self, deadline: float | None = None) -> bool:
        """Return True: the event loop has read the whole body before."""
        return True
