"""A bounded buffer for an answer, between the thread that writes and the client that reads."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO

MOST_UNSENT = 4 * 1024 * 1024
"""The thread waits while the buffer of its answer holds more bytes. A larger single write is accepted."""
PATIENCE_SECONDS = 10.0
LEAST_RATE = 16 * 1024
"""A client has PATIENCE_SECONDS to read, and one more second for each LEAST_RATE bytes that it has read."""
SAFETY_SECONDS = 60.0
"""No thread waits longer than this, even if the event loop no longer checks for slow clients."""
UNSENT_IN_KERNEL = 256 * 1024
"""The kernel buffers at most this many unsent bytes, so that this process sees how fast a client reads."""
FILE_CHUNK = 256 * 1024
BUFFERS_AT_ONCE = 64


class CutOff(BrokenPipeError):
    """The error for a client that read its answer too slowly or has disconnected."""

    def __init__(self) -> None:
        super().__init__(errno.EPIPE, "the client does not read its answer")


class Outlet:
    """The write-only socket of the thread that answers.

    While nothing is buffered, the thread sends directly, without waiting. Bytes that the kernel does not take
    go into the buffer, and `on_unsent` tells the event loop to send them.
    """

    def __init__(self, sock: socket.socket, readers: SlowReaders, on_unsent: Callable[[], None]) -> None:
        self.sock = sock
        self.is_cut = False
        self._readers = readers
        self._on_unsent = on_unsent
        self._buffer: deque[memoryview] = deque()
        self._unsent = 0
        self._since = 0.0
        self._taken = 0
        self._changed = threading.Condition()
        sock.setblocking(False)
        with suppress(OSError, AttributeError):  # not every system has this option
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_IN_KERNEL)

    # --- Called by the thread ---------------------------------------------------------------------

    def sendall(self, data: bytes) -> None:
        """Send or buffer the bytes; wait for the client while the buffer is full. Raises CutOff."""
        if self.put(data) > MOST_UNSENT:
            self._wait()

    def put(self, data: bytes) -> int:
        """Send or buffer the bytes without waiting; return the size of the buffer. Raises CutOff."""
        with self._changed:
            if self.is_cut:
                raise CutOff
            was_empty = not self._buffer
            if data:
                self._buffer.append(memoryview(data))
            self._unsent += len(data)
            if was_empty:
                self._since, self._taken = time.monotonic(), 0
                self._send()
            begun = was_empty and self._unsent > 0
            unsent = self._unsent
        if begun:
            self._on_unsent()
        return unsent

    def send(self, data: bytes) -> int:
        """Send or buffer all the bytes, as `sendall` does."""
        self.sendall(data)
        return len(data)

    def sendfile(self, file: IO[bytes], offset: int = 0, count: int | None = None) -> int:
        """Send or buffer `count` bytes of a file from `offset`. Raises CutOff."""
        file.seek(offset)
        left = os.fstat(file.fileno()).st_size - offset if count is None else count
        sent = 0
        while left > 0 and (chunk := file.read(min(left, FILE_CHUNK))):
            self.sendall(chunk)
            sent += len(chunk)
            left -= len(chunk)
        return sent

    def recv(self, size: int) -> bytes:
        """Return the end of the stream, because the thread already has the whole request."""
        del size
        return b""

    def settimeout(self, seconds: float | None) -> None:
        """Ignore the timeout: the minimum rate limits how long a thread waits."""

    def setblocking(self, flag: bool) -> None:
        """Ignore the mode, because the real socket never blocks."""

    def shutdown(self, how: int) -> None:
        """Ignore the end of the thread's answer: the event loop closes the connection."""

    def close(self) -> None:
        """Ignore the end of the thread's answer: the event loop closes the connection."""

    def _wait(self) -> None:
        with self._readers.waiting(self), self._changed:
            in_time = self._changed.wait_for(self._has_room, SAFETY_SECONDS)
            if self.is_cut or not in_time:
                raise CutOff

    def _has_room(self) -> bool:
        return self.is_cut or self._unsent <= MOST_UNSENT // 2

    # --- Called by the event loop -----------------------------------------------------------------

    @property
    def unsent(self) -> int:
        """Return the number of bytes in the buffer."""
        return self._unsent

    @property
    def since(self) -> float:
        """Return the time at which the buffer was last empty."""
        return self._since

    def flush(self) -> bool:
        """Send as much as the kernel takes; return whether the buffer is empty now. Raises CutOff."""
        with self._changed:
            if self.is_cut:
                raise CutOff
            self._send()
            if self.is_cut:
                raise CutOff
            if self._unsent <= MOST_UNSENT // 2:
                self._changed.notify_all()
            return not self._buffer

    def rate(self, now: float) -> float:
        """Return how many bytes a second the client has taken since the buffer was last empty."""
        return self._taken / max(now - self._since, 0.001)

    def is_overdue(self, now: float) -> bool:
        """Return whether the client has read more slowly than the minimum rate."""
        with self._changed:
            waiting = bool(self._buffer)
            return waiting and now > self._since + PATIENCE_SECONDS + self._taken / LEAST_RATE

    def cut(self) -> None:
        """Give up on the client: drop the buffer, and make a waiting thread fail with CutOff."""
        with self._changed:
            self.is_cut = True
            self._buffer.clear()
            self._unsent = 0
            self._changed.notify_all()

    def _send(self) -> None:
        """Send from the buffer until the kernel takes no more."""
        while self._buffer:
            try:
                sent = self.sock.sendmsg(list(islice(self._buffer, BUFFERS_AT_ONCE)))
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.cut()
                return
            self._taken += sent
            self._unsent -= sent
            while sent:
                first = self._buffer.popleft()
                if sent < len(first):
                    self._buffer.appendleft(first[sent:])
                    break
                sent -= len(first)


class SlowReaders:
    """The threads that wait for clients to read. If too many wait, the slowest client is cut off."""

    def __init__(self, most: int) -> None:
        self._most = max(1, most)
        self._lock = threading.Lock()
        self._waiting: list[Outlet] = []

    @contextmanager
    def waiting(self, outlet: Outlet) -> Iterator[None]:
        """List the outlet as waiting while the block runs. If too many wait, cut off the slowest client."""
        slowest = self._enter(outlet)
        if slowest is not None:
            slowest.cut()
        try:
            yield
        finally:
            with self._lock, suppress(ValueError):
                self._waiting.remove(outlet)

    def _enter(self, outlet: Outlet) -> Outlet | None:
        """Add the outlet. If too many outlets wait, remove the slowest and return it."""
        slowest = None
        with self._lock:
            if len(self._waiting) >= self._most:
                now = time.monotonic()
                slowest = min(self._waiting, key=lambda waiting: waiting.rate(now))
                self._waiting.remove(slowest)
            self._waiting.append(outlet)
        return slowest
