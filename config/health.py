"""Is it alive, and can it work? For those who watch over the process (contract 11)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from redis.exceptions import RedisError

from api import envelope
from api.errors import only_read
from api.renderers import encode
from config.heartbeat import SILENCE, client, heard

# Many may ask at once; what was found is true for as long as this.
REMEMBERED = 1.0

_found: tuple[float, dict[str, str]] = (-REMEMBERED, {})


@only_read
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process lives."""
    return _answer(200, {"status": "alive"})


@only_read
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when database, Redis and a worker answer, else 503 naming what does not."""
    checks = _checks()
    silent = [name for name, found in checks.items() if found != "ok"]
    if not silent:
        return _answer(200, {"status": "ready", "checks": checks})
    reason = f"No answer from: {', '.join(silent)}."
    refusal = {**envelope.error("unavailable", reason), "status": "not ready", "checks": checks}
    response = _answer(503, refusal)
    response["Retry-After"] = "5"
    return response


def _checks() -> dict[str, str]:
    global _found
    asked, found = _found
    if time.monotonic() - asked >= REMEMBERED:
        found = {name: check() for name, check in CHECKS.items()}
        _found = (time.monotonic(), found)
    return found


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _redis() -> str:
    try:
        with client() as line:
            line.ping()
    except RedisError:
        return "does not answer"
    return "ok"


def _worker() -> str:
    try:
        return "ok" if heard() else f"none has been heard of for {SILENCE} seconds"
    except RedisError:
        return "cannot be heard of without Redis"


CHECKS: dict[str, Callable[[], str]] = {"database": _database, "redis": _redis, "worker": _worker}


def _answer(status: int, body: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(encode(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
