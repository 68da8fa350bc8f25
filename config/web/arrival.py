"""One request while it arrives: its bytes so far, and whether it is complete. Nothing here uses a socket."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import InvalidRequestLine, NoMoreData

from config.web.chunks import Chunks

# LONGEST_HEAD has room for a request line of LONGEST_LINE bytes and a few dozen headers.
LONGEST_LINE = 8_192
LONGEST_HEAD = 64 * 1024

# The time limit in seconds for each of three steps: the first byte, then the head, then the body. Each
# LEAST_RATE bytes that have arrived add one second.
HEAD_SECONDS = 10.0
LEAST_RATE = 16 * 1024

BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")

ReadHead = Callable[[bytes], Any]
"""A function that parses the bytes of a head into gunicorn's request. It raises gunicorn's errors."""


class Arrival:
    """The bytes of one request, collected until a thread can answer it without waiting for its client.

    gunicorn's own parser reads the head once and tells how the body is framed. This class decodes the body.
    The thread gets the parsed head and the body, so no second parser can disagree about the request's end.
    """

    def __init__(
        self, now: float, *, read_head: ReadHead, most: Callable[[str], int], idle: float = HEAD_SECONDS
    ) -> None:
        """`most` returns the maximum body size of a path; `idle` is the time limit for the first byte."""
        self.data = bytearray()
        """Bytes that are not decoded yet; after the end, bytes of the client's next request."""
        self.request: Any = None
        self.fault: Exception | None = None
        self.since = now
        self.idle = idle
        self.complete = False
        self.too_long = False
        """The body is longer than its path allows. The rest of the body is not read."""
        self.head_too_long = False
        self.wants_continue = False
        self.received = 0
        self._read_head_by = read_head
        self._most_at = most
        self._length = 0
        self._chunks: Chunks | None = None

    def feed(self, data: bytes, now: float) -> None:
        """Add bytes that have arrived."""
        if not self.received:
            self.since = now
        self.data += data
        self.received += len(data)
        try:
            if self.request is None:
                self._read_head(len(data))
            if self.request is not None and not self.complete:
                self._read_body()
        except Exception as fault:  # noqa: BLE001 - the server refuses the request for any error
            self.fault = fault
        self.complete = self.complete or self.too_long or self.fault is not None
        self.wants_continue &= not self.complete

    @property
    def deadline(self) -> float:
        """The time by which the rest of the request must have arrived."""
        if not self.received:
            return self.since + self.idle
        steps = 1 if self.request is None else 2
        return self.since + HEAD_SECONDS * steps + self.received / LEAST_RATE

    @property
    def held(self) -> int:
        """The number of bytes of this request in memory."""
        return len(self.data) + (len(self._chunks.body) if self._chunks else 0)

    def take(self) -> tuple[Any, bytes]:
        """Return the request with its body, and the bytes that follow it."""
        if self._chunks is not None:
            body, rest = bytes(self._chunks.body), bytes(self.data)
        else:
            body, rest = bytes(self.data[: self._length]), bytes(self.data[self._length :])
        self.request.body = io.BytesIO(body)
        self.data.clear()
        return self.request, rest

    def _read_head(self, fresh: int) -> None:
        start = max(0, len(self.data) - fresh - 3)
        end = self.data.find(b"\r\n\r\n", start)
        if end < 0:
            self.head_too_long = self.complete = len(self.data) > LONGEST_HEAD
            no_line = len(self.data) > LONGEST_LINE and self.data.find(b"\r\n", 2, LONGEST_LINE) < 0
            if self.complete or not (no_line or BARE_LINE_FEED.search(self.data, start)):
                return
        head = bytes(self.data if end < 0 else self.data[: end + 4])
        try:
            request = self._read_head_by(head)
        except (NoMoreData, StopIteration) as error:
            raise InvalidRequestLine("the head has no end") from error
        if request.unreader.take_buffered():
            raise InvalidRequestLine("the head has two ends")
        del self.data[: len(head)]
        self._begin_body(request)

    def _begin_body(self, request: Any) -> None:
        self.request = request
        most = self._most_at(request.path)
        reader = request.body.reader
        if isinstance(reader, ChunkedReader):
            self._chunks = Chunks(request, most)
        else:
            self._length = reader.length
            self.too_long = self._length > most
        # The event loop sends `100 Continue`, so gunicorn must not send it again.
        self.wants_continue, request._expected_100_continue = request._expected_100_continue, False

    def _read_body(self) -> None:
        if self._chunks is None:
            self.complete = len(self.data) >= self._length
            return
        self._chunks.feed(self.data)
        self.complete, self.too_long = self._chunks.complete, self._chunks.too_long
