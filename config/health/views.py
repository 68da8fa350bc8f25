"""/healthz: does the process live? /readyz: can it serve? /statusz: is all as it should be? (contract 11)"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from redis.exceptions import ReadOnlyError, RedisError

from api import envelope
from api.errors import only_read
from api.renderers import encode
from config.health.parts import UNKNOWN, beat, listed, parts
from config.health.shared_folder import shared_folder
from config.health.worker import HEARTBEAT_TTL, has_heartbeat, redis_client
from config.metrics import is_internal
from events.webhooks.selectors import nobody_sends
from sftp_ingest.area.incoming import MIN_FREE_DISK

# Seconds for which the checks' results are reused: many may ask at once.
CACHED_FOR = 1.0

_cached: tuple[float, dict[str, str]] = (-CACHED_FOR, {})


@only_read
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process lives."""
    return _answer(200, {"status": "alive"})


@only_read
def readyz(request: HttpRequest) -> HttpResponse:
    """A balancer's question: 200 while this process can serve, whatever else is said of what it works with.

    Orders are taken without Redis and without a worker: no host is better than another then.
    """
    return _answered(NEEDED, {})


@only_read
def statusz(request: HttpRequest) -> HttpResponse:
    """A watcher's question: 200 while everything is as it should be, else 503 naming what is not."""
    # Hosts' names are nobody's business outside.
    return _answered(frozenset(CHECKS), {"parts": listed()} if is_internal(request) else {})


def _answered(needed: frozenset[str], more: dict[str, Any]) -> HttpResponse:
    checks = _checks()
    failed = [name for name, result in checks.items() if result != "ok" and name in needed]
    if not failed:
        return _answer(200, {"status": "ready", "checks": checks, **more})
    reason = f"Not as it should be: {', '.join(f'{name} ({checks[name]})' for name in failed)}."
    refusal = {**envelope.error("unavailable", reason), "status": "not ready", "checks": checks, **more}
    response = _answer(503, refusal)
    response["Retry-After"] = "5"
    return response


def _checks() -> dict[str, str]:
    global _cached
    checked_at, results = _cached
    if time.monotonic() - checked_at >= CACHED_FOR:
        results = _ask_all()
        _cached = (time.monotonic(), results)
    return results


def _ask_all() -> dict[str, str]:
    """One Redis that says nothing costs one wait: a balancer has little time."""
    results: dict[str, str] = {}
    for name, check in CHECKS.items():
        unknown = name in BY_REDIS and results.get("redis", "ok") != "ok"
        results[name] = UNKNOWN if unknown else check()
    return results


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery()")
            (standby,) = cursor.fetchone()
    except DatabaseError:
        return "does not answer"
    return "is a standby" if standby else "ok"


def _redis() -> str:
    try:
        with redis_client() as client:
            if client.info("cluster").get("cluster_enabled"):
                return "is a node of a cluster, which is not supported"
            client.set("exchange:status", 1, ex=60)
    except ReadOnlyError:
        return "is a replica: REDIS_URL must lead to the master"
    except RedisError:
        return "does not answer"
    return "ok"


def _worker() -> str:
    try:
        return "ok" if has_heartbeat() else f"no heartbeat for {HEARTBEAT_TTL} seconds"
    except RedisError:
        return UNKNOWN


def _disk() -> str:
    folder = next(each for each in (settings.UPLOADS_DIR, *settings.UPLOADS_DIR.parents) if each.exists())
    free = shutil.disk_usage(folder).free
    return "ok" if free >= MIN_FREE_DISK else f"full: {free // 2**20} MiB are free for uploads"


def _webhooks() -> str:
    try:
        return "no process sends to them" if nobody_sends() else "ok"
    except DatabaseError:
        return "unknown without the database"


NEEDED = frozenset({"database"})
CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "redis": _redis,
    "worker": _worker,
    "disk": _disk,
    "uploads": shared_folder,
    "webhooks": _webhooks,
    "beat": beat,
    "parts": parts,
}
BY_REDIS = frozenset({"worker", "uploads", "beat", "parts"})


def _answer(status: int, body: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(encode(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
