"""Failed logins: counted by name and address, and by address; in Redis, or here while Redis is away."""

from __future__ import annotations

import functools
import hashlib
import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from redis.exceptions import RedisError

from sftp_ingest.server.addresses import source_of

T = TypeVar("T")
logger = logging.getLogger(__name__)

# Of one name from one address; of one address with any names, behind which there may be others.
MAX_FAILURES, MAX_FAILURES_OF_ADDRESS = 6, 30
FIRST_WAIT, MAX_WAIT, MAX_WAIT_OF_ADDRESS = 300, 24 * 3600, 3600  # seconds
FORGET_AFTER = 24 * 3600

_local = LocMemCache("sftp-attempts", {})


@functools.cache
def _shared() -> BaseCache:
    """One store for all threads: each client has its own, and must not open a connection of its own."""
    return caches.create_connection("default")


def seconds_to_wait(name: str, address: str) -> float:
    """The seconds for which this pair may not try; 0 when it may."""
    return _seconds_left(_pair(name, address))


def address_seconds_to_wait(address: str) -> float:
    """The seconds for which no password is tried from there; 0 when one may be."""
    return _seconds_left(source_of(address))


def record_failure(name: str, address: str) -> int:
    """Count a failure; return how many this pair has had. From the sixth on it waits, each time longer."""
    _in_store(lambda store: _count(store, source_of(address), MAX_FAILURES_OF_ADDRESS, MAX_WAIT_OF_ADDRESS))
    return _in_store(lambda store: _count(store, _pair(name, address), MAX_FAILURES, MAX_WAIT))


def forget_failures(name: str, address: str) -> None:
    """Forget the failures of this pair. Those of its address stay: a login must not buy guesses at others."""
    keys = [_key(kind, _pair(name, address)) for kind in ("failures", "until")]
    _in_store(lambda store: store.delete_many(keys))


def _seconds_left(subject: str) -> float:
    until = _in_store(lambda store: store.get(_key("until", subject), 0.0))
    return max(0.0, float(until) - time.time())


def _count(store: BaseCache, subject: str, allowed: int, longest: int) -> int:
    key = _key("failures", subject)
    failures = 1 if store.add(key, 1, FORGET_AFTER) else int(store.incr(key))
    if failures >= allowed:
        seconds = min(FIRST_WAIT * 2 ** min(failures - allowed, 20), longest)
        store.set(_key("until", subject), time.time() + seconds, seconds)
    return failures


def _pair(name: str, address: str) -> str:
    return f"{name}\0{source_of(address)}"


def _key(kind: str, subject: str) -> str:
    """Names come from outside, of any length and content."""
    return f"sftp:{kind}:{hashlib.sha256(subject.encode(errors='replace')).hexdigest()}"


def _in_store(work: Callable[[BaseCache], T]) -> T:
    try:
        return work(_shared())
    except (RedisError, OSError):
        logger.warning("failed SFTP logins are counted in this process only: Redis does not answer")
        return work(_local)
