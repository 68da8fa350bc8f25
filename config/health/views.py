"""Health pages (contract 11, 17).

/healthz tells whether the process lives, /readyz whether it can answer requests, and /statusz whether all
checks pass.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from redis.exceptions import ReadOnlyError, RedisError

from api import envelope
from api.errors import only_read
from api.renderers import encode
from config.health import readiness
from config.health.apart import ApartCheck
from config.health.parts import UNKNOWN, beat, listed, parts
from config.health.shared_folder import shared_folder
from config.health.worker import HEARTBEAT_TTL, has_heartbeat, redis_client
from config.metrics import is_internal
from events.webhooks.selectors import no_sender_runs
from sftp_ingest.area.incoming import MIN_FREE_DISK

# Seconds for which the results are reused, because many clients may ask at once.
CACHED_FOR = 1.0

_cached: tuple[float, dict[str, str]] = (-CACHED_FOR, {})


@only_read
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process lives."""
    return _answer(200, {"status": "alive"})


@only_read
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer a load balancer: 200 while the database is writable, else 503.

    Only the database matters. The service accepts orders without Redis, workers and files. A failure of these
    parts affects all hosts, so another host would not help. The web process answers this path itself within
    two seconds; this view is for other servers.
    """
    status, body = readiness.answer(readiness.database())
    response = _answer(status, body)
    if status != HTTPStatus.OK:
        response["Retry-After"] = readiness.RETRY_AFTER
    return response


@only_read
def statusz(request: HttpRequest) -> HttpResponse:
    """Answer a monitor: 200 while every check is `ok`, else 503 with the names of the failed checks."""
    # Only internal clients see the list of parts, because the list contains the names of hosts.
    more: dict[str, object] = {"parts": listed()} if is_internal(request) else {}
    checks = _checks()
    failed = [name for name, result in checks.items() if result != "ok"]
    if not failed:
        return _answer(200, {"status": "ready", "checks": checks, **more})
    reason = f"These checks failed: {', '.join(f'{name} ({checks[name]})' for name in failed)}."
    refusal = {**envelope.error("unavailable", reason), "status": "not ready", "checks": checks, **more}
    response = _answer(503, refusal)
    response["Retry-After"] = readiness.RETRY_AFTER
    return response


def _checks() -> dict[str, str]:
    global _cached
    checked_at, results = _cached
    if time.monotonic() - checked_at >= CACHED_FOR:
        results = _ask_all()
        _cached = (time.monotonic(), results)
    return results


def _ask_all() -> dict[str, str]:
    """Run all checks. If Redis fails, skip the checks that need Redis, because monitors do not wait long."""
    results: dict[str, str] = {}
    for name, check in CHECKS.items():
        unknown = name in BY_REDIS and results.get("redis", "ok") != "ok"
        results[name] = UNKNOWN if unknown else check()
    return results


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
        return "no process sends webhooks" if no_sender_runs() else "ok"
    except DatabaseError:
        return "unknown without the database"


CHECKS: dict[str, Callable[[], str]] = {
    "database": readiness.database,
    "redis": _redis,
    "worker": _worker,
    # The checks `disk` and `uploads` read a file system that may be shared and may hang.
    "disk": ApartCheck(_disk),
    "uploads": ApartCheck(shared_folder),
    "webhooks": _webhooks,
    "beat": beat,
    "parts": parts,
}
BY_REDIS = frozenset({"worker", "uploads", "beat", "parts"})


def _answer(status: int, body: dict[str, object]) -> HttpResponse:
    response = HttpResponse(encode(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response
