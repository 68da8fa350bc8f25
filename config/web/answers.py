"""Answers that the web process gives without Django. Errors have the same envelope as in the API."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Protocol

from accounts import failed_keys
from accounts.rates import Count
from api import envelope, request_id
from api.renderers import encode
from config.health import readiness as ready
from config.web.arrival import Arrival
from config.web.outlet import Outlet
from config.web.turns import LONGEST_WAIT

CODES = {
    400: "validation_error",
    403: "forbidden",
    408: "request_timeout",
    413: "too_large",
    414: "uri_too_long",
    417: "validation_error",
    429: "rate_limited",
    431: "headers_too_large",
    501: "validation_error",
    503: "busy",
}
RETRY_AFTER = {503: "5"}
BUSY = f"This request could not begin within {LONGEST_WAIT:.0f} seconds. Try again in a few seconds."
CROWDED = "There are too many requests at once. Try again in a few seconds."


class Head(Protocol):
    """The head of a request that gunicorn has parsed, with header names in upper case."""

    method: str
    path: str
    headers: list[tuple[str, str]]

    def should_close(self) -> bool: ...


def refusal(
    status: int, message: str, request: Head | None = None, more: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """Return an answer that refuses the request and ends the connection. `more` is added to the JSON body.

    `request` is None if its head could not be read.
    """
    begin(request)
    return _refusal(status, message, _headers_of(status), more)


def too_long(arrival: Arrival) -> bytes | None:
    """Return the refusal of a request with too many bytes, or None."""
    if arrival.head_too_long:
        return refusal(431, "The headers of this request are too long.")
    if not arrival.too_long:
        return None
    message, request = "The body is longer than this path allows.", arrival.request
    return refusal(413, message, request, _oauth_members(request.path, "invalid_request", message))


def too_many_wrong_keys(request: Head, seconds: float) -> bytes:
    """Return the answer for an address that has tried too many wrong keys."""
    wait = max(1, math.ceil(seconds))
    message = f"Too many wrong keys came from this address. Try again in {wait} s."
    headers = {"Retry-After": str(wait)}
    if limit := failed_keys.rate():
        headers |= Count(False, limit.amount, 0, wait, limit.get_expiry()).headers("address")
    more = _oauth_members(request.path, "slow_down", message)
    begin(request)
    return _refusal(429, message, headers, more)


def _oauth_members(path: str, error: str, message: str) -> dict[str, str]:
    """Return the members that RFC 6749, section 5.2, requires of an error of the token endpoint."""
    return {"error": error, "error_description": message} if path.startswith("/oauth/") else {}


def alive(request: Head) -> bytes:
    """Return the answer to `/healthz`."""
    headers = _health_headers(request)
    return _answer(200, encode({"status": "alive"}), headers, head_only=request.method == "HEAD")


def readiness(request: Head, state: str) -> bytes:
    """Return the answer to `/readyz` for this state of the database."""
    headers = _health_headers(request)
    status, body = ready.answer(state)
    if status != HTTPStatus.OK:
        headers["Retry-After"] = ready.RETRY_AFTER
    return _answer(status, encode(body), headers, head_only=request.method == "HEAD")


def _health_headers(request: Head) -> dict[str, str]:
    connection = "close" if request.should_close() else "keep-alive"
    return {request_id.HEADER: begin(request), "Cache-Control": "no-store", "Connection": connection}


def begin(request: Head | None) -> str:
    """Begin a request with the id that the client sent, as Django's middleware does. Return the id."""
    headers = request.headers if request is not None else []
    sent = ",".join(value for name, value in headers if name == request_id.HEADER.upper())
    return request_id.begin(sent or None)


def _refusal(status: int, message: str, headers: dict[str, str], more: Mapping[str, str]) -> bytes:
    """Return a refusal with the id of the request that has begun."""
    body = encode({**more, **envelope.error(CODES.get(status, "internal_error"), message)})
    return _answer(status, body, {request_id.HEADER: request_id.current_request_id(), **headers})


def _answer(status: int, body: bytes, headers: dict[str, str], *, head_only: bool = False) -> bytes:
    lines = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return f"{start}{head}\r\n".encode("latin-1") + (b"" if head_only else body)


def write_error(outlet: Outlet, status: int, reason: str, message: str) -> None:
    """Write the envelope instead of gunicorn's HTML page for a request that gunicorn refuses.

    gunicorn has logged the refusal before, so the answer has the id of that log line.
    """
    del reason
    with suppress(OSError):
        outlet.sendall(_refusal(status, message or "The service failed.", _headers_of(status), {}))


def _headers_of(status: int) -> dict[str, str]:
    return {"Retry-After": RETRY_AFTER[status]} if status in RETRY_AFTER else {}
