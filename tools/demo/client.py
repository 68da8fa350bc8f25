"""The HTTP client of a party in the demo: JSON and an API key, with the standard library only."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

TIMEOUT = 30.0


class DemoError(Exception):
    """The error for a failed step of the demo. Its message contains the unexpected result."""


@dataclass(frozen=True)
class DemoAnswer:
    """A response with its duration."""

    request: str
    status: int
    text: str
    headers: Message
    seconds: float

    @property
    def json(self) -> Any:
        """Return the body. Raises DemoError if it is not JSON."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise DemoError(
                f"{self.request} answered {self.status} with no JSON: {self.text[:200]}"
            ) from error

    @property
    def next_page(self) -> str | None:
        """Return the URL of the next page from the Link header, or None on the last page."""
        target, _, relation = self.headers.get("Link", "").partition(";")
        return target.strip().strip("<>") if 'rel="next"' in relation else None


@dataclass
class PartnerClient:
    """The client of one party, with the service's URL, the party's path and the party's key."""

    name: str
    base_url: str
    path: str
    key: str
    on_answer: Callable[[DemoAnswer, Any], None] = field(default=lambda answer, body: None)

    def get(self, path: str = "") -> DemoAnswer:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> DemoAnswer:
        return self.call("POST", path, body)

    def put(self, path: str, body: Any = None) -> DemoAnswer:
        return self.call("PUT", path, body)

    def call(self, method: str, path: str, body: Any = None) -> DemoAnswer:
        """Send a request to a path below the party's path, or to a full URL that the service returned."""
        url = path if path.startswith(self.base_url) else f"{self.base_url}{self.path}/{path}"
        answer = self._send(method, url, body)
        self.on_answer(answer, body)
        return answer

    def _send(self, method: str, url: str, body: Any) -> DemoAnswer:
        headers = {"Accept": "application/json", "Authorization": f"Bearer {self.key}"}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - demo.json's URL
        # The demo connects to this machine, so ignore the proxies of the environment.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        line = f"{method} {url.removeprefix(self.base_url)}"
        started = time.perf_counter()
        try:
            with opener.open(request, timeout=TIMEOUT) as response:
                status, text, head = response.status, response.read().decode(), response.headers
        except urllib.error.HTTPError as error:
            with error:
                status, text, head = error.code, error.read().decode(errors="replace"), error.headers
        except OSError as error:
            raise DemoError(
                f"{line}: no answer from {self.base_url} ({error}). Start the service with: make run"
            ) from error
        return DemoAnswer(line, status, text, head, time.perf_counter() - started)
