"""/healthz: is the process alive? /readyz: can it work? (contract 11)"""

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
from config.health.worker import HEARTBEAT_TTL, has_heartbeat, redis_client

# Seconds for which the checks' results are reused: many may ask at once.
CACHED_FOR = 1.0

_cached: tuple[float, dict[str, str]] = (-CACHED_FOR, {})


@only_read
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process lives."""
    return _answer(200, {"status": "alive"})


@only_read
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when database, Redis and a worker answer, else 503 naming what does not."""
    checks = _checks()
    failed = [name for name, result in checks.items() if result != "ok"]
    if not failed:
        return _answer(200, {"status": "ready", "checks": checks})
    reason = f"No answer from: {', '.join(failed)}."
    refusal = {**envelope.error("unavailable", reason), "status": "not ready", "checks": checks}
    response = _answer(503, refusal)
    response["Retry-After"] = "5"
    return response


def _checks() -> dict[str, str]:
    global _cached
    checked_at, results = _cached
    if time.monotonic() - checked_at >= CACHED_FOR:
        results = {name: check() for name, check in CHECKS.items()}
        _cached = (time.monotonic(), results)
    return results


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _redis() -> str:
    try:
        with redis_client() as client:
            client.ping()
    except RedisError:
        return "does not answer"
    return "ok"


def _worker() -> str:
    try:
        return "ok" if has_heartbeat() else f"no heartbeat for {HEARTBEAT_TTL} seconds"
    except RedisError:
        return "unknown without Redis"


CHECKS: dict[str, Callable[[], str]] = {"database": _database, "redis": _redis, "worker": _worker}


def _answer(status: int, body: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(encode(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
