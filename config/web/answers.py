"""Answers that are given without a thread of Django's: in the envelope, like all others."""

from __future__ import annotations

import socket
from contextlib import suppress
from http import HTTPStatus

from api import envelope, request_id
from api.renderers import encode

CODES = {
    400: "validation_error",
    403: "forbidden",
    408: "request_timeout",
    413: "too_large",
    414: "uri_too_long",
    417: "validation_error",
    431: "headers_too_large",
    501: "validation_error",
    503: "busy",
}
RETRY_AFTER = {503: "5"}


def refusal(status: int, message: str) -> bytes:
    """An answer that refuses, with its head; the connection ends with it."""
    chosen = request_id.begin(None)
    body = encode(envelope.error(CODES.get(status, "internal_error"), message))
    headers = {"Retry-After": RETRY_AFTER[status]} if status in RETRY_AFTER else {}
    return _answer(status, body, {request_id.HEADER: chosen, **headers})


def alive(method: bytes) -> bytes:
    """The answer to `/healthz`."""
    headers = {request_id.HEADER: request_id.begin(None), "Cache-Control": "no-store"}
    return _answer(200, encode({"status": "alive"}), headers, head_only=method == b"HEAD")


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


def send(sock: socket.socket, answer: bytes) -> None:
    """Send a short answer; a client that does not take even that goes without."""
    with suppress(OSError):
        sock.send(answer)


def write_error(sock: socket.socket, status: int, reason: str, message: str) -> None:
    """Instead of gunicorn's own page of HTML, for what it refuses before Django sees it."""
    del reason
    send(sock, refusal(status, message or "Something went wrong on our side."))
