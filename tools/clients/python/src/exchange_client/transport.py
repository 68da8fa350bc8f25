"""The sending of requests, with retries under one idempotency key, and the reading of lists by pages."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from exchange_client.errors import ApiError, NotReached
from exchange_client.retries import LONGEST_WAIT, backoff, may_succeed_later, retry_after
from exchange_client.values import query_value, read_json, write_json
from exchange_client.version import __version__


class Transport:
    """The requests of one party.

    `retries` is the number of attempts after the first. `timeout` is in seconds, for the connection and for
    each wait for a part of an answer. `transport` and `sleep` are for tests.

    All calls are safe to repeat, because a POST has an idempotency key. A call is repeated if no answer
    arrived, or if the same request may succeed later. The first wait is up to half a second, and later waits
    are longer. The client waits as long as `Retry-After` requests, up to a minute. If the service requests a
    longer wait, the call fails.
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
        self._last = threading.local()
        self._http = httpx.Client(
            base_url=base_url,
            headers={
                "Authorization": f"Bearer {api_key}",
                "Accept": "application/json, text/csv, application/pdf",
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
        if_match: str | None = None,
    ) -> Any:
        """Return the answer's JSON, text or bytes. Raises ApiError, or NotReached without an answer."""
        return _content(self._send(method, path, params, body, idempotency_key, if_match))

    @property
    def last_etag(self) -> str | None:
        """The ETag of the last answer in this thread. Pass it as `if_match` to change the same version."""
        etag: str | None = getattr(self._last, "etag", None)
        return etag

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
            # Use only the path of the next page's URL, so that the key never goes to another host.
            url = httpx.URL(following).raw_path.decode() if following else None
            query = None

    def _send(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> httpx.Response:
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())} if method == "POST" else {}
        if if_match is not None:
            headers["If-Match"] = if_match
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = write_json(body)
        query = {name: query_value(value) for name, value in (params or {}).items() if value is not None}
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
                self._last.etag = response.headers.get("ETag")
                return response
            wanted = retry_after(response)
            if last or not may_succeed_later(response) or (wanted or 0) > LONGEST_WAIT:
                raise ApiError(response, wanted)
            self.sleep(backoff(attempt) if wanted is None else wanted)
        raise AssertionError("unreachable")


def _content(response: httpx.Response) -> Any:
    """Return JSON as objects, other text as text, and anything else, such as a PDF, as bytes."""
    kind = response.headers.get("Content-Type", "")
    if "json" in kind:
        return read_json(response.content)
    return response.text if kind.startswith("text/") or not response.content else response.content
