"""Sends requests, with retries under one idempotency key, and reads lists page by page."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

import httpx

from exchange_client.errors import ApiError, NotReached
from exchange_client.retries import LONGEST_WAIT, backoff, may_succeed_later, retry_after
from exchange_client.version import __version__


class Transport:
    """The requests of one party.

    `retries` is the number of attempts after the first. `timeout` is in seconds, for the connection and for
    each wait within an answer. `transport` and `sleep` are for tests.

    All calls are safe to repeat: a POST has an idempotency key. A call is sent again if no answer arrived, or
    if a later answer may differ. The first wait is half a second, and each wait is longer than the last.
    `Retry-After` is followed up to a minute; after a longer one, the call fails.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = 5,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.sleep = sleep
        self._retries = retries
        self._http = httpx.Client(
            base_url=base_url,
            headers={
                "Authorization": f"Bearer {api_key}",
                "Accept": "application/json, text/csv",
                "User-Agent": f"exchange-client-python/{__version__}",
            },
            timeout=timeout,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Return the answer's JSON or text. Raise ApiError for a refusal, NotReached without an answer."""
        return _content(self._send(method, path, params, body, idempotency_key))

    def pages(self, path: str, params: Mapping[str, Any]) -> Iterator[Any]:
        """Yield every item of a list, across its pages. A feed of events ends at its newest event."""
        url: str | None = path
        query: Mapping[str, Any] | None = params
        while url:
            response = self._send("GET", url, query)
            found = _content(response)
            yield from found["results"] if isinstance(found, dict) else found
            links = response.links.get("next", {})
            following = found.get("next") if isinstance(found, dict) else links.get("url")
            # Use only the path, so that the key never goes to another host.
            url = httpx.URL(following).raw_path.decode() if following else None
            query = None

    def _send(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> httpx.Response:
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())} if method == "POST" else {}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, default=_json_value, allow_nan=False).encode()
        query = {name: _text(value) for name, value in (params or {}).items() if value is not None}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                response = self._http.request(
                    method, path, params=query or None, content=content, headers=headers
                )
            except httpx.TransportError as error:
                if last:
                    raise NotReached(f"{method} {path}: {error!r}") from error
                self.sleep(backoff(attempt))
                continue
            if response.is_success:
                return response
            wanted = retry_after(response)
            if last or not may_succeed_later(response) or (wanted or 0) > LONGEST_WAIT:
                raise ApiError(response, wanted)
            self.sleep(backoff(attempt) if wanted is None else wanted)
        raise AssertionError("unreachable")


def _content(response: httpx.Response) -> Any:
    """Parse money and weights as exact decimals."""
    if "json" in response.headers.get("Content-Type", ""):
        return json.loads(response.content, parse_float=Decimal)
    return response.text


def _json_value(value: object) -> object:
    """Return a value that JSON has no type for as text."""
    if isinstance(value, date):  # a datetime is a date, too
        return value.isoformat()
    if isinstance(value, Decimal):
        number = float(value)
        if Decimal(repr(number)) != value:
            raise ValueError(f"{value} has more digits than a JSON number keeps")
        return number
    raise TypeError(f"{value!r} cannot be sent")


def _text(value: object) -> Any:
    """Return a query value, with dates and times in the service's format."""
    return value.isoformat() if isinstance(value, date) else value
