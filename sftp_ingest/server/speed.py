"""Replacements for slow parts of paramiko, whose work for each packet of 32 KB limits the upload speed.

For each packet, paramiko makes two or three system calls to read it, creates an object for its checksum, and
compares the checksum byte by byte in Python. OpenSSH's client prefers a cipher that needs these checksums.
"""

from __future__ import annotations

import hmac
import select
import socket
from typing import Any

from paramiko import packet, util

READ_AT_ONCE = 256 * 1024


class BufferedSocket:
    """A socket that reads large blocks for many small `recv` calls. Only one thread may read from it."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner, self._buffer, self._position = inner, b"", 0

    def recv(self, size: int) -> bytes:
        if self._position == len(self._buffer):
            self._buffer, self._position = self._inner.recv(READ_AT_ONCE), 0
        data = self._buffer[self._position : self._position + size]
        self._position += len(data)
        return data

    def has_data(self, seconds: float) -> bool:
        """Wait up to these seconds for data or the end of the stream. Return whether either has arrived."""
        if self._position < len(self._buffer):
            return True
        poll = select.poll()  # select() fails for file numbers above 1023
        poll.register(self._inner, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _checksum(key: bytes, message: bytes, digest: Any) -> bytes:
    return hmac.digest(key, message, digest)


def use_fast_checksums() -> None:
    """Make paramiko compute and compare checksums in C, still in constant time."""
    packet.compute_hmac = _checksum
    util.constant_time_bytes_eq = hmac.compare_digest
