"""An HTTP client as a partner could write it: it uses the standard library and no code of the project."""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from email.message import Message
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_run = secrets.token_hex(4).upper()
_numbers = count(1)


def unique(prefix: str) -> str:
    """Return a name that no earlier run has used."""
    return f"{prefix}-{_run}-{next(_numbers)}"


def digits(length: int) -> str:
    """Return a random code with this number of digits and a correct check digit.

    A UPC has 12 digits, an EAN 8 or 13, a GTIN 14.
    """
    body = str(secrets.randbelow(9) + 1) + "".join(str(secrets.randbelow(10)) for _ in range(length - 2))
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(body)))
    return body + str(-total % 10)


def encode(value: Any) -> bytes:
    """Encode a value as JSON. Decimals become numbers with exactly their digits."""
    text = json.dumps(value, default=lambda number: f"@@{number}@@")
    return text.replace('"@@', "").replace('@@"', "").encode()


@dataclass(frozen=True)
class Answer:
    """An answer. It also has the text of its request, which a failed assertion shows."""

    request: str
    status: int
    headers: Message
    raw: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.raw, parse_float=Decimal)

    @property
    def text(self) -> str:
        return self.raw.decode()

    @property
    def next(self) -> str | None:
        """Return the URL of the next page from the header `Link: <…>; rel="next"`."""
        for link in (self.headers["Link"] or "").split(","):
            address, _, rest = link.partition(">")
            if 'rel="next"' in rest or "rel=next" in rest:
                return address.strip().lstrip("<")
        return None

    def __str__(self) -> str:
        return f"{self.request}\n-> {self.status} {dict(self.headers.items())}\n{self.raw[:3000]!r}"


class Caller:
    """The client of one party, with the party's key and path."""

    def __init__(self, origin: str, token: str = "", base: str = "", **about: Any) -> None:
        self.origin, self.token, self.base, self.about = origin.rstrip("/"), token, base, about

    @property
    def id(self) -> int:
        return int(self.about["id"])

    @property
    def warehouses(self) -> list[int]:
        return [warehouse["id"] for warehouse in self.about["warehouses"]]

    def with_token(self, token: str) -> Caller:
        return Caller(self.origin, token, self.base, **self.about)

    def request(
        self,
        method: str,
        path: str = "",
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send a request, and return the answer.

        A path without a leading `/` is relative to `base`. A header with the value None is not sent.
        """
        address = urlsplit(path if path.startswith("http") else self.origin + self._path(path))
        target = quote(address.path, safe="/%:@") + (f"?{address.query}" if address.query else "")
        if query:
            target += ("&" if address.query else "?") + urlencode(query)
        content = body if isinstance(body, bytes) else None if body is None else encode(body)
        sent: dict[str, str | None] = {"Accept": "application/json"}
        if content is not None:
            sent["Content-Type"] = "application/json"
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        try:
            # The service may answer and close before it has read the whole body.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, target, content, {k: v for k, v in sent.items() if v is not None})
            reply = connection.getresponse()
            headers = {name: value for name, value in sent.items() if name != "Authorization"}
            shown = f"{method} {target} {headers} {(content or b'')[:1500]!r}"
            answer = Answer(shown, reply.status, reply.headers, reply.read())
        finally:
            connection.close()
        assert answer.status < 500 or answer.status == 503, f"the service failed: {answer}"
        if address.path.startswith(("/v3", "/oauth")):
            assert answer.headers["X-Request-Id"], f"no X-Request-Id (contract 2): {answer}"
        return answer

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.base}/{path}".rstrip("/")

    def get(self, path: str = "", query: Mapping[str, Any] | None = None, **headers: str | None) -> Answer:
        return self.request("GET", path, None, _named(headers), query)

    def post(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return self.request("POST", path, body, _named(headers))

    def put(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return self.request("PUT", path, body, _named(headers))


def _named(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def well(answer: Answer, status: int = 200) -> Any:
    """Return the body of an answer. Raises AssertionError if the answer is not a success with JSON."""
    assert answer.status == status, answer
    assert answer.headers.get_content_type() == "application/json", answer
    return answer.json


def done(answer: Answer, code: str, status: int = 200) -> Any:
    """Return the envelope of a status update, push or cancellation that succeeded (interface 2.2).

    Raises AssertionError unless the envelope has this code and a message.
    """
    body = well(answer, status)
    assert body["success"] is True, answer
    assert body["code"] == code, answer
    assert isinstance(body["message"], str), answer
    assert body["message"], answer
    return body


def fault(answer: Answer, status: int, code: str | tuple[str, ...], at: str | None = None) -> Any:
    """Return the envelope of an error (contract 2). `at` is the field that `errors` must name, if any."""
    assert answer.status == status, answer
    assert answer.headers.get_content_type() == "application/json", answer
    body = answer.json
    assert body["success"] is False, answer
    assert body["code"] in ((code,) if isinstance(code, str) else code), answer
    assert isinstance(body["message"], str), answer
    assert body["message"], answer
    assert "Traceback" not in answer.text, answer
    assert body["request_id"] == answer.headers["X-Request-Id"], answer
    for error in body.get("errors", []):
        assert set(error) >= {"field", "code", "message"}, answer
        assert all(isinstance(error[key], str) for key in ("field", "code", "message")), answer
    if at is not None:
        assert at in [error["field"] for error in body.get("errors", [])], answer
    return body
