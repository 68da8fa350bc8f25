"""What bounds an upload is what paramiko does for each packet of 32 KB; this is what can be had without it.

It asks the system two or three times for each packet, compares its checksum byte by byte in Python, and makes
that checksum by an object of its own. OpenSSH's client prefers a cipher that has such checksums.
"""

from __future__ import annotations

import hmac
import socket
from typing import Any

from paramiko import packet, util

READ_AT_ONCE = 256 * 1024


class BufferedSocket:
    """A socket from which little is read at a time, and much is asked of the system. One thread reads it."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner, self._buffer, self._position = inner, b"", 0

    def recv(self, size: int) -> bytes:
        if self._position == len(self._buffer):
            self._buffer, self._position = self._inner.recv(READ_AT_ONCE), 0
        data = self._buffer[self._position : self._position + size]
        self._position += len(data)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _checksum(key: bytes, message: bytes, digest: Any) -> bytes:
    return hmac.digest(key, message, digest)


def use_fast_checksums() -> None:
    """Have paramiko make and compare checksums in C, in constant time as before."""
    packet.compute_hmac = _checksum
    util.constant_time_bytes_eq = hmac.compare_digest
