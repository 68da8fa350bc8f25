"""The reading of a remote file with many open requests, so that a distant host is not slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import paramiko
from paramiko import sftp as protocol

CHUNK = 32 * 1024  # bytes that every server returns in one answer
MOST_OPEN = 64  # the most requests without an answer


class _ReadRequest(NamedTuple):
    number: int
    offset: int
    length: int


def read_ahead(
    client: paramiko.SFTPClient, file: paramiko.SFTPFile, start: int, size: int
) -> Iterator[bytes]:
    """Yield the content of a file from `start` to its end. `size` is its expected size. Raises OSError.

    This function replaces paramiko's own prefetching, which stops if no request is open for a moment, as
    happens on a fast line. paramiko then requests a single chunk at a time, and again requests chunks that it
    had received and discarded.
    """
    answers = _Answers(client, file)
    open_requests: deque[_ReadRequest] = deque()
    offset = start
    while True:
        while not open_requests or (offset < size and len(open_requests) < MOST_OPEN):
            open_requests.append(answers.ask(offset, CHUNK))
            offset += CHUNK
        request = open_requests.popleft()
        data = answers.wait_for(request)
        if not data:
            return
        yield data
        if len(data) < request.length:  # servers may return less than requested
            open_requests.appendleft(answers.ask(request.offset + len(data), request.length - len(data)))


class _Answers:
    """The requests for chunks of a file and their answers, which may arrive in any order."""

    def __init__(self, client: paramiko.SFTPClient, file: paramiko.SFTPFile) -> None:
        self._client, self._file = client, file
        self._received: dict[int, tuple[int, paramiko.Message]] = {}

    def ask(self, offset: int, length: int) -> _ReadRequest:
        number = self._client._async_request(
            self, protocol.CMD_READ, self._file.handle, protocol.int64(offset), length
        )
        return _ReadRequest(number, offset, length)

    def wait_for(self, request: _ReadRequest) -> bytes:
        """Return the data of a request, empty at the end of the file. Raises OSError."""
        while request.number not in self._received:
            self._client._read_response()
        kind, message = self._received.pop(request.number)
        if kind == protocol.CMD_DATA:
            return bytes(message.get_binary())
        try:
            self._client._convert_status(message)
        except EOFError:
            return b""
        raise OSError("The host answered a read with neither data nor an error.")

    def _async_response(self, kind: int, message: paramiko.Message, number: int) -> None:
        """Store an answer. paramiko's client calls this."""
        self._received[number] = kind, message
