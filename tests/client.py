"""An API client for tests. It has one party's key, and checks each answer against the OpenAPI document."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.test import Client

from api.renderers import encode
from tests import described


class ApiClient:
    """A client with the secret of one key. `base` is the path of its party, such as /v3/suppliers/1."""

    def __init__(self, secret: str = "", base: str = "") -> None:
        self.secret, self.base = secret, base
        self._http = Client(raise_request_exception=False)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request, and return the answer.

        A path that does not begin with `/` is relative to `base`.
        """
        url = path if path.startswith("/") else f"{self.base}/{path}".rstrip("/")
        content = b"" if body is None else body if isinstance(body, bytes) else encode(body)
        sent = {"Accept": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        if self.secret:
            sent.setdefault("Authorization", f"Bearer {self.secret}")
        content_type = sent.pop("Content-Type", "application/json")
        answer = self._http.generic(method, url, content, content_type, headers=sent)
        described.check(answer, method, url)
        return answer

    def get(self, path: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        return self.request("GET", f"{path}?{urlencode(params)}" if params else path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.request("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.request("PUT", path, body, **headers)
