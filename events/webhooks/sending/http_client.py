"""Sending one signed request, and saying how it went."""

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

from events.webhooks.sending.connections import Answered, Connection
from events.webhooks.sending.resolving import NotCallable, Resolver
from events.webhooks.targets import Target

Headers = list[tuple[str, str]]
LONGEST_ERROR = 300
MOST_ADDRESSES = 4  # of one name that are tried
MOST_RESTING, REST_SECONDS = 20, 20.0  # connections to one receiver that are kept for its next deliveries


class Answer(NamedTuple):
    """How a request went: the receiver's status (None where there was none), and what was wrong with it."""

    status: int | None
    error: str
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class HttpClient:
    """Sends requests over connections that it keeps. It follows no redirect and reads little of an answer."""

    def __init__(self) -> None:
        self._resolver = Resolver()
        self._tls = ssl.create_default_context()
        self._resting: defaultdict[Target, deque[Connection]] = defaultdict(deque)
        self._looked_at = time.monotonic()

    async def post(self, target: Target, headers: Headers, body: bytes) -> Answer:
        """Send it, within WEBHOOK_SECONDS for all of it."""
        try:
            async with asyncio.timeout(settings.WEBHOOK_SECONDS):
                answered = await self._post(target, headers, body)
        except TimeoutError:
            return Answer(None, f"No answer within {settings.WEBHOOK_SECONDS:g} seconds.")
        except NotCallable as error:
            return Answer(None, str(error)[:LONGEST_ERROR])
        except (OSError, ssl.SSLError, h11.ProtocolError) as error:
            return Answer(None, _in_words(error)[:LONGEST_ERROR])
        return _judge(answered)

    async def _post(self, target: Target, headers: Headers, body: bytes) -> Answered:
        server = target._replace(path="")
        while (kept := self._kept(server)) is not None:
            try:
                return await self._ask(server, kept, target, headers, body)
            except (OSError, h11.RemoteProtocolError):
                if kept.heard:
                    raise
                # It was closed while it rested; nobody has read the request.
        return await self._ask(server, await self._connect(target), target, headers, body)

    async def _ask(
        self,
        server: Target,
        connection: Connection,
        target: Target,
        headers: list[tuple[str, str]],
        body: bytes,
    ) -> Answered:
        kept = False
        try:
            answered = await connection.post(target, headers, body)
            kept = connection.rest() and len(self._resting[server]) < MOST_RESTING
        finally:
            if kept:
                self._resting[server].append(connection)
            else:
                connection.close()
        return answered

    def _kept(self, server: Target) -> Connection | None:
        resting = self._resting[server]
        while resting:
            connection = resting.pop()
            if connection.is_open() and time.monotonic() - connection.rests_since < REST_SECONDS:
                return connection
            connection.close()
        del self._resting[server]
        return None

    async def _connect(self, target: Target) -> Connection:
        failed: OSError | None = None
        for address in (await self._resolver.addresses(target))[:MOST_ADDRESSES]:
            try:
                return await Connection.open(target, address, self._tls)
            except OSError as error:  # TimeoutError is one
                failed = error
        assert failed is not None  # there was an address
        raise failed

    def drop_rested(self) -> None:
        """Close the connections that nobody has used for a while; it looks for them now and then."""
        if time.monotonic() - self._looked_at < REST_SECONDS / 4:
            return
        self._looked_at = time.monotonic()
        for server in list(self._resting):
            kept = self._resting[server]
            while kept and time.monotonic() - kept[0].rests_since >= REST_SECONDS:
                kept.popleft().close()
            if not kept:
                del self._resting[server]

    def close(self) -> None:
        for resting in self._resting.values():
            for connection in resting:
                connection.close()
        self._resolver.close()


def _judge(answered: Answered) -> Answer:
    status = answered.status
    if 200 <= status < 300:
        return Answer(status, "")
    error = f"The receiver answered {status}."
    if 300 <= status < 400:
        error += " Redirects are not followed."
    return Answer(status, error, _seconds(answered.headers.get("retry-after", "")))


def _seconds(retry_after: str) -> float:
    """What a Retry-After asks for; 0 where it cannot be read."""
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _in_words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"Its certificate is not trusted: {error.verify_message}."
    if isinstance(error, h11.ProtocolError):
        return f"Its answer is no HTTP: {error}."
    if isinstance(error, ssl.SSLError):
        return f"No TLS: {error.reason or error}."
    number = getattr(error, "errno", None)
    text = os.strerror(number) if number and number > 0 else str(error).replace("\x00", "")
    return f"No connection: {text or type(error).__name__}."
