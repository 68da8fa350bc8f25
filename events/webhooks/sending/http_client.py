"""The HTTP client that sends deliveries to receivers."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections import defaultdict, deque
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import h11
from django.conf import settings

from events.webhooks.sending.connections import Answered, ReceiverConnection
from events.webhooks.sending.resolving import NotCallable, Resolver
from events.webhooks.targets import WebhookTarget

Headers = list[tuple[str, str]]
LONGEST_ERROR = 300
MOST_ADDRESSES = 4  # the most addresses of a host name that are tried
MOST_RESTING, REST_SECONDS = 20, 20.0  # idle connections to one receiver, kept for its next deliveries


class ReceiverAnswer(NamedTuple):
    """The result of a request: the receiver's status (None without an answer), and the error."""

    status: int | None
    error: str
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class HttpClient:
    """A client that reuses connections, follows no redirects and reads only the beginning of an answer."""

    def __init__(self) -> None:
        self._resolver = Resolver()
        self._tls = ssl.create_default_context()
        self._resting: defaultdict[WebhookTarget, deque[ReceiverConnection]] = defaultdict(deque)
        self._looked_at = time.monotonic()

    async def post(self, target: WebhookTarget, headers: Headers, body: bytes) -> ReceiverAnswer:
        """Send a request and return its result. The status must arrive within WEBHOOK_SECONDS."""
        server = target._replace(path="")
        try:
            async with asyncio.timeout(settings.WEBHOOK_SECONDS):
                connection, answered = await self._post(server, target, headers, body)
        except TimeoutError:
            return ReceiverAnswer(None, f"No answer within {settings.WEBHOOK_SECONDS:g} seconds.")
        except NotCallable as error:
            return ReceiverAnswer(None, str(error))
        except (OSError, ssl.SSLError, h11.ProtocolError) as error:
            return ReceiverAnswer(None, _in_words(error)[:LONGEST_ERROR])
        await self._release(server, connection)
        return _judge(answered)

    async def _post(
        self, server: WebhookTarget, target: WebhookTarget, headers: Headers, body: bytes
    ) -> tuple[ReceiverConnection, Answered]:
        while (idle := self._idle_connection(server)) is not None:
            try:
                return await self._send(idle, target, headers, body)
            except (OSError, h11.RemoteProtocolError):
                if idle.heard:
                    raise
                # The receiver had closed the idle connection, so send the request over another connection.
        return await self._send(await self._connect(target), target, headers, body)

    async def _send(
        self, connection: ReceiverConnection, target: WebhookTarget, headers: Headers, body: bytes
    ) -> tuple[ReceiverConnection, Answered]:
        try:
            return connection, await connection.post(target, headers, body)
        except BaseException:
            connection.close()
            raise

    async def _release(self, server: WebhookTarget, connection: ReceiverConnection) -> None:
        """Keep the connection for the next delivery if the answer was read completely, or else close it."""
        reusable = False
        try:
            await connection.read_body()
            reusable = connection.rest() and len(self._resting[server]) < MOST_RESTING
        finally:
            if reusable:
                self._resting[server].append(connection)
            else:
                connection.close()

    def _idle_connection(self, server: WebhookTarget) -> ReceiverConnection | None:
        resting = self._resting[server]
        while resting:
            connection = resting.pop()
            if connection.is_open() and time.monotonic() - connection.rests_since < REST_SECONDS:
                return connection
            connection.close()
        del self._resting[server]
        return None

    async def _connect(self, target: WebhookTarget) -> ReceiverConnection:
        failed: OSError | None = None
        for address in (await self._resolver.addresses(target))[:MOST_ADDRESSES]:
            try:
                return await ReceiverConnection.open(target, address, self._tls)
            except OSError as error:  # includes TimeoutError
                failed = error
        assert failed is not None  # the resolver returns at least one address
        raise failed

    def drop_rested(self) -> None:
        """Close connections that were idle for too long. Calls within 5 s after a check do nothing."""
        if time.monotonic() - self._looked_at < REST_SECONDS / 4:
            return
        self._looked_at = time.monotonic()
        for server in list(self._resting):
            resting = self._resting[server]
            while resting and time.monotonic() - resting[0].rests_since >= REST_SECONDS:
                resting.popleft().close()
            if not resting:
                del self._resting[server]

    def close(self) -> None:
        for resting in self._resting.values():
            for connection in resting:
                connection.close()
        self._resolver.close()


def _judge(answered: Answered) -> ReceiverAnswer:
    status = answered.status
    if 200 <= status < 300:
        return ReceiverAnswer(status, "")
    error = f"The receiver answered {status}."
    if 300 <= status < 400:
        error += " Redirects are not followed."
    return ReceiverAnswer(status, error, _seconds(answered.headers.get("retry-after", "")))


def _seconds(retry_after: str) -> float:
    """Return the seconds of a Retry-After header, or 0 if it is unreadable."""
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _in_words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The receiver's certificate is not trusted: {error.verify_message}."
    if isinstance(error, h11.ProtocolError):
        return f"The answer is not HTTP: {error}."
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}."
    number = getattr(error, "errno", None)
    text = os.strerror(number) if number and number > 0 else str(error).replace("\x00", "")
    return f"The connection failed: {text or type(error).__name__}."
