"""Reading a remote file with many requests on their way, so that a host far away is not slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import paramiko
from paramiko import sftp as protocol

PIECE = 32 * 1024  # bytes that every server gives at once
MOST_OPEN = 64  # requests


class _Asked(NamedTuple):
    number: int
    offset: int
    length: int


def read_ahead(
    client: paramiko.SFTPClient, file: paramiko.SFTPFile, start: int, size: int
) -> Iterator[bytes]:
    """The file's content from `start` to its end, which is at `size` or so, in pieces. Raises OSError.

    paramiko's own prefetching ends when for a moment no request is open, as on a quick line: from there on
    it asks for one piece at a time, and first for all that it had thrown away.
    """
    answers = _Answers(client, file)
    open_requests: deque[_Asked] = deque()
    offset = start
    while True:
        while not open_requests or (offset < size and len(open_requests) < MOST_OPEN):
            open_requests.append(answers.ask(offset, PIECE))
            offset += PIECE
        asked = open_requests.popleft()
        data = answers.wait_for(asked)
        if not data:
            return
        yield data
        if len(data) < asked.length:  # servers may give less than they are asked for
            open_requests.appendleft(answers.ask(asked.offset + len(data), asked.length - len(data)))


class _Answers:
    """Sends requests for pieces of a file, and keeps the answers until somebody waits for them."""

    def __init__(self, client: paramiko.SFTPClient, file: paramiko.SFTPFile) -> None:
        self._client, self._file = client, file
        self._came: dict[int, tuple[int, paramiko.Message]] = {}

    def ask(self, offset: int, length: int) -> _Asked:
        number = self._client._async_request(
            self, protocol.CMD_READ, self._file.handle, protocol.int64(offset), length
        )
        return _Asked(number, offset, length)

    def wait_for(self, asked: _Asked) -> bytes:
        """What it gave; nothing at the end of the file. Raises OSError."""
        while asked.number not in self._came:
            self._client._read_response()
        kind, message = self._came.pop(asked.number)
        if kind == protocol.CMD_DATA:
            return bytes(message.get_binary())
        try:
            self._client._convert_status(message)
        except EOFError:
            return b""
        raise OSError("It answered a read with neither data nor an error.")

    def _async_response(self, kind: int, message: paramiko.Message, number: int) -> None:
        """Called by paramiko's client."""
        self._came[number] = kind, message
