"""A connection to a receiver, which sends one request at a time."""

from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import suppress
from typing import NamedTuple

import h11

from events.webhooks.addresses import Address
from events.webhooks.targets import WebhookTarget

BODY_SECONDS = 1.0  # the longest wait for the rest of an answer whose status is known
MOST_READ = 16 * 1024  # bytes of an answer's body; its content is not used
CONNECT_TIMEOUT = 5.0
CHUNK = 16 * 1024


class Answered(NamedTuple):
    """A receiver's answer."""

    status: int
    headers: dict[str, str]


class ReceiverConnection:
    """An open connection to a receiver. It can be used again after an answer was read completely."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_READ)
        self.used = False
        self.heard = False
        """Whether any byte of an answer to the last request has arrived."""
        self.rests_since = 0.0

    @classmethod
    async def open(cls, target: WebhookTarget, address: Address, tls: ssl.SSLContext) -> ReceiverConnection:
        """Connect to this address. The certificate must match the host name. Raises OSError, TimeoutError."""
        secured = {"ssl": tls, "server_hostname": target.host} if target.scheme == "https" else {}
        async with asyncio.timeout(CONNECT_TIMEOUT):
            streams = await asyncio.open_connection(str(address), target.port, limit=MOST_READ, **secured)  # type: ignore[arg-type]
        return cls(*streams)

    async def post(self, target: WebhookTarget, headers: list[tuple[str, str]], body: bytes) -> Answered:
        """Send a request and read the head of its answer. Raises OSError, h11.RemoteProtocolError.

        Call `read_body` next.
        """
        self.heard, http = False, self._http
        sent = [("Host", target.authority), *headers, ("Content-Length", str(len(body)))]
        head = http.send(h11.Request(method="POST", target=target.path, headers=sent))
        data = http.send(h11.Data(data=body))
        self._writer.write(b"".join(part for part in (head, data, http.send(h11.EndOfMessage())) if part))
        self.used = True
        await self._writer.drain()
        return await self._read_head()

    async def _read_head(self) -> Answered:
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response):
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
                return Answered(event.status_code, headers)
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionResetError("the connection was closed in the middle of an answer")

    async def read_body(self) -> None:
        """Read the body of the answer.

        A slow or broken body only ends the connection: the status of the answer counts anyway.
        """
        size = 0
        with suppress(OSError, h11.RemoteProtocolError):
            async with asyncio.timeout(BODY_SECONDS):
                while size <= MOST_READ and isinstance(event := await self._next_event(), h11.Data):
                    size += len(event.data)

    async def _next_event(self) -> object:
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = await self._reader.read(CHUNK)
            self.heard = self.heard or bool(data)
            if not self.heard:
                raise ConnectionResetError("the connection was closed without an answer")
            self._http.receive_data(data)

    def rest(self) -> bool:
        """Prepare the connection for another request. Return False if it cannot be used again."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        self.rests_since = time.monotonic()
        return not self._reader.at_eof()

    def is_open(self) -> bool:
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        self._writer.transport.abort()
