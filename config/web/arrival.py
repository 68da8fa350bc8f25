"""One request while it comes in: its bytes so far, and whether that is all of it. No socket is needed."""

from __future__ import annotations

import re
from collections.abc import Callable

# What comes before a body: a request line of 8 KiB and a few dozen headers fit in well.
LONGEST_LINE = 8_192
LONGEST_HEAD = 64 * 1024
MOST_CHUNKS = 100_000

# Seconds for the head, or for anything at all; a body has as long again, and must come at a least rate.
HEAD_SECONDS = 10.0
LEAST_RATE = 16 * 1024

CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}(?=[ \t;\r]|$)")
HEALTH = re.compile(rb"(GET|HEAD) /healthz/? HTTP/1\.[01]\r\n")
HEADERS = re.compile(
    rb"\r\n(content-length|transfer-encoding|expect|authorization)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE
)


class Arrival:
    """Collects the bytes of a request until a thread can answer it without ever waiting for its client.

    What is malformed or too long counts as complete as soon as that shows: whoever reads it next refuses it.
    """

    def __init__(self, now: float, *, most: Callable[[str], int], idle: float = HEAD_SECONDS) -> None:
        """`most` says how many bytes a body may have at a path; `idle`, how long there may be none at all."""
        self.data = bytearray()
        self.since = now
        self.idle = idle
        self.complete = False
        self.too_long = False
        """Its body is longer than any that is read: the rest of it is not waited for."""
        self.head_too_long = False
        self.wants_continue = False
        self.authorization = b""
        self._most_at = most
        self._most = 0
        self._head = 0
        self._length = 0
        self._chunked = False
        self._at = self._chunks = 0

    def feed(self, data: bytes, now: float) -> None:
        """Take what has come."""
        if not self.data:
            self.since = now
        self.data += data
        if not self._head:
            self._read_head(len(data))
        if self._head and not self.complete:
            self.complete = self._all_chunks() if self._chunked else len(self.data) >= self._length
        self.wants_continue &= not self.complete

    @property
    def deadline(self) -> float:
        """When it should have come further than it has."""
        if not self.data:
            return self.since + self.idle
        return self.since + HEAD_SECONDS * (2 if self._head else 1) + len(self.data) / LEAST_RATE

    @property
    def health(self) -> bytes:
        """The method of a question for /healthz; nothing for all others."""
        found = HEALTH.match(self.data)
        return found[1] if found else b""

    def _read_head(self, fresh: int) -> None:
        end = self.data.find(b"\r\n\r\n", max(0, len(self.data) - fresh - 3))
        if end < 0:
            self.head_too_long = len(self.data) > LONGEST_HEAD
            a_line = self.data.find(b"\r\n", 0, LONGEST_LINE) >= 0
            self.complete = self.head_too_long or (len(self.data) > LONGEST_LINE and not a_line)
            return
        self._head = self._at = self._length = end + 4
        self._most = self._most_at(self._path())
        headers = {name.lower(): value for name, value in HEADERS.findall(self.data[: end + 2])}
        self.authorization = headers.get(b"authorization", b"")
        self._chunked = b"chunked" in headers.get(b"transfer-encoding", b"").lower()
        length = headers.get(b"content-length", b"")
        if length.isdigit() and not self._chunked:
            body = int(length[:20])
            self.too_long = body > self._most
            self._length += 0 if self.too_long else body
        self.complete = self.too_long
        self.wants_continue = headers.get(b"expect", b"").lower() == b"100-continue"

    def _path(self) -> str:
        _, _, target = self.data[:LONGEST_LINE].partition(b"\r\n")[0].partition(b" ")
        return target.partition(b" ")[0].partition(b"?")[0].decode("latin-1")

    def _all_chunks(self) -> bool:
        """Whether the last chunk has come, or what shows that there will be no end to them."""
        while True:
            end = self.data.find(b"\r\n", self._at, self._at + LONGEST_LINE)
            if end < 0:
                return len(self.data) - self._at > LONGEST_LINE
            found = CHUNK_SIZE.match(self.data, self._at, end)
            if found is None:
                return True
            size = int(found[0], 16)
            if size == 0:
                return self.data.find(b"\r\n\r\n", end) >= 0
            if end + size - self._head > self._most or self._chunks > MOST_CHUNKS:
                self.too_long = True
                return True
            if end + size + 4 > len(self.data):
                return False
            self._at, self._chunks = end + size + 4, self._chunks + 1
