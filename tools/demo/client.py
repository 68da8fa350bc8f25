"""An HTTP client as a partner would write one: JSON and an API key, standard library only."""

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


class StoryError(Exception):
    """A step did not go as expected; the message says what came instead."""


@dataclass(frozen=True)
class Answer:
    """A response, and how long it took."""

    request: str
    status: int
    text: str
    headers: Message
    seconds: float

    @property
    def json(self) -> Any:
        """The body. Raises StoryError when it is no JSON."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise StoryError(
                f"{self.request} answered {self.status} with no JSON: {self.text[:200]}"
            ) from error

    @property
    def next_page(self) -> str | None:
        """The URL of the next page from the Link header, if there is one."""
        target, _, relation = self.headers.get("Link", "").partition(";")
        return target.strip().strip("<>") if 'rel="next"' in relation else None


@dataclass
class PartnerClient:
    """One party's system: knows the service's URL, its own path and its key."""

    name: str
    base_url: str
    path: str
    key: str
    on_answer: Callable[[Answer, Any], None] = field(default=lambda answer, body: None)

    def get(self, path: str = "") -> Answer:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.call("POST", path, body)

    def put(self, path: str, body: Any = None) -> Answer:
        return self.call("PUT", path, body)

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request below the party's own path, or to a full URL that the service gave."""
        url = path if path.startswith(self.base_url) else f"{self.base_url}{self.path}/{path}"
        answer = self._send(method, url, body)
        self.on_answer(answer, body)
        return answer

    def _send(self, method: str, url: str, body: Any) -> Answer:
        headers = {"Accept": "application/json", "Authorization": f"Bearer {self.key}"}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - demo.json's URL
        # The demo connects to this machine: no proxy of the environment may be used.
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
            raise StoryError(
                f"{line}: no answer from {self.base_url} ({error}). Start the service with: make run"
            ) from error
        return Answer(line, status, text, head, time.perf_counter() - started)
