"""Failed logins: counted for each name and address, in Redis, or in this process while Redis is away."""

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

from sftp_ingest.addresses import source_of

T = TypeVar("T")
logger = logging.getLogger(__name__)

ALLOWED = 6
FIRST_WAIT, LONGEST_WAIT = 300, 24 * 3600  # seconds
FORGET_AFTER = 24 * 3600

_local = LocMemCache("sftp-attempts", {})


@functools.cache
def _shared() -> BaseCache:
    """One store for all threads: each client has its own, and must not open a connection of its own."""
    return caches.create_connection("default")


def wait_left(name: str, address: str) -> float:
    """The seconds for which this pair may not try; 0 when it may."""
    until = _in_store(lambda store: store.get(_key("until", name, address), 0.0))
    return max(0.0, float(until) - time.time())


def failed(name: str, address: str) -> int:
    """Count a failure; return how many this pair has had. From the sixth on it waits, each time longer."""
    return _in_store(lambda store: _count(store, name, address))


def succeeded(name: str, address: str) -> None:
    """Forget the failures of this pair."""
    keys = [_key(kind, name, address) for kind in ("failures", "until")]
    _in_store(lambda store: store.delete_many(keys))


def _count(store: BaseCache, name: str, address: str) -> int:
    key = _key("failures", name, address)
    failures = 1 if store.add(key, 1, FORGET_AFTER) else int(store.incr(key))
    if failures >= ALLOWED:
        seconds = min(FIRST_WAIT * 2 ** min(failures - ALLOWED, 20), LONGEST_WAIT)
        store.set(_key("until", name, address), time.time() + seconds, seconds)
    return failures


def _key(kind: str, name: str, address: str) -> str:
    """Names come from outside, of any length and content."""
    pair = hashlib.sha256(f"{name}\0{source_of(address)}".encode(errors="replace")).hexdigest()
    return f"sftp:{kind}:{pair}"


def _in_store(work: Callable[[BaseCache], T]) -> T:
    try:
        return work(_shared())
    except (RedisError, OSError):
        logger.warning("failed SFTP logins are counted in this process only: Redis does not answer")
        return work(_local)
