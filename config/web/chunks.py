"""The decoder of a chunked body, which works while the bytes arrive."""

from __future__ import annotations

from typing import Any

from gunicorn.http.body import CHUNK_EXT_RE
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    InvalidHeader,
    LimitRequestHeaders,
)

LONGEST_SIZE_LINE = 8_190
LONGEST_TRAILERS = 64 * 1024
MOST_CHUNKS = 100_000
HEX = frozenset(b"0123456789abcdefABCDEF")


class Chunks:
    """A decoder of chunked bodies, with the same rules as gunicorn's. A fuzz test compares the two."""

    def __init__(self, request: Any, most: int) -> None:
        """`request` is gunicorn's request, which checks the trailers.

        `most` is the maximum size of the body in bytes, including the lines with the chunk sizes.
        """
        self.body = bytearray()
        self.complete = False
        self.too_long = False
        self._request = request
        self._most = most
        self._count = 0
        self._seen = 0
        self._left = 0
        self._step = self._read_size

    def feed(self, data: bytearray) -> None:
        """Decode and remove as many bytes of `data` as possible. Raises gunicorn's errors."""
        while not self.complete and not self.too_long and self._step(data):
            pass

    def _read_size(self, data: bytearray) -> bool:
        end = data.find(b"\r\n")
        if end < 0:
            if len(data) > LONGEST_SIZE_LINE:
                raise InvalidChunkSize(b"the line has no end")
            return False
        self._left = _size(bytes(data[:end]))
        del data[: end + 2]
        self._count += 1
        self._seen += end + self._left
        self.too_long = self._seen > self._most or self._count > MOST_CHUNKS
        self._step = self._read_data if self._left else self._read_trailers
        return True

    def _read_data(self, data: bytearray) -> bool:
        part = data[: self._left]
        self.body += part
        self._left -= len(part)
        del data[: len(part)]
        if not self._left:
            self._step = self._read_end_of_data
        return not self._left

    def _read_end_of_data(self, data: bytearray) -> bool:
        if not b"\r\n".startswith(data[:2]):
            raise ChunkMissingTerminator(bytes(data[:2]))
        if len(data) < 2:
            return False
        del data[:2]
        self._step = self._read_size
        return True

    def _read_trailers(self, data: bytearray) -> bool:
        if data[:2] == b"\r\n":
            del data[:2]
            self.complete = True
            return True
        end = data.find(b"\r\n\r\n")
        if end < 0:
            if data.count(b"\n") != data.count(b"\r\n"):
                raise InvalidHeader("bare LF as line terminator")
            if len(data) > LONGEST_TRAILERS:
                raise LimitRequestHeaders("limit request trailer section size")
            return False
        self._request.trailers = self._request.parse_headers(bytes(data[:end]), from_trailer=True)
        del data[: end + 4]
        self.complete = True
        return True


def _size(line: bytes) -> int:
    """Return the number of bytes that the line of a chunk announces."""
    digits, semicolon, extension = line.partition(b";")
    if semicolon:
        if b"\r" in extension:
            raise InvalidChunkExtension("bare CR not allowed")
        digits = digits.rstrip(b" \t")
    if not digits or not HEX.issuperset(digits):
        raise InvalidChunkSize(digits)
    if semicolon and not CHUNK_EXT_RE.fullmatch(b";" + extension):
        raise InvalidChunkExtension("invalid chunk extension")
    return int(digits, 16)
