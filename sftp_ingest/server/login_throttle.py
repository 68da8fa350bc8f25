"""Counts of failed logins: for each name at an address, and for each address alone.

The counts are in Redis, or in the memory of this process while Redis does not answer.
"""

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

# Limits for one name from one address, and for one address with all names. The second limit is higher,
# because several people may share an address.
MAX_FAILURES, MAX_FAILURES_OF_ADDRESS = 6, 30
FIRST_WAIT, MAX_WAIT, MAX_WAIT_OF_ADDRESS = 300, 24 * 3600, 3600  # seconds
FORGET_AFTER = 24 * 3600

_local = LocMemCache("sftp-attempts", {})


@functools.cache
def _shared() -> BaseCache:
    """Return one cache for all threads. Otherwise the thread of each client would open a connection."""
    return caches.create_connection("default")


def seconds_to_wait(name: str, address: str) -> float:
    """Return the seconds until this name and address may try again, or 0."""
    return _seconds_left(_pair(name, address))


def address_seconds_to_wait(address: str) -> float:
    """Return the seconds until passwords from this address are checked again, or 0."""
    return _seconds_left(source_of(address))


def record_failure(name: str, address: str) -> int:
    """Count a failure, and return the number of failures of this name and address.

    From the sixth failure on, logins must wait. Each further failure doubles the wait.
    """
    _in_store(lambda store: _count(store, source_of(address), MAX_FAILURES_OF_ADDRESS, MAX_WAIT_OF_ADDRESS))
    return _in_store(lambda store: _count(store, _pair(name, address), MAX_FAILURES, MAX_WAIT))


def forget_failures(name: str, address: str) -> None:
    """Reset the failures of a name and address.

    The failures of the address alone stay: otherwise one valid login would allow unlimited guesses.
    """
    keys = [_key(kind, _pair(name, address)) for kind in ("failures", "until")]
    _in_store(lambda store: store.delete_many(keys))


def _seconds_left(subject: str) -> float:
    until = _in_store(lambda store: store.get(_key("until", subject), 0.0))
    return max(0.0, float(until) - time.time())


def _count(store: BaseCache, subject: str, allowed: int, longest: int) -> int:
    key = _key("failures", subject)
    try:
        failures = 1 if store.add(key, 1, FORGET_AFTER) else int(store.incr(key))
    except ValueError:  # the former failures were forgotten between the two calls
        failures = 1
        store.set(key, failures, FORGET_AFTER)
    if failures >= allowed:
        seconds = min(FIRST_WAIT * 2 ** min(failures - allowed, 20), longest)
        store.set(_key("until", subject), time.time() + seconds, seconds)
    return failures


def _pair(name: str, address: str) -> str:
    return f"{name}\0{source_of(address)}"


def _key(kind: str, subject: str) -> str:
    """Build a cache key with a hash, because names from clients can have any length and content."""
    return f"sftp:{kind}:{hashlib.sha256(subject.encode(errors='replace')).hexdigest()}"


def _in_store(work: Callable[[BaseCache], T]) -> T:
    try:
        return work(_shared())
    except (RedisError, OSError):
        logger.warning("failed SFTP logins are counted in this process only: Redis does not answer")
        return work(_local)
