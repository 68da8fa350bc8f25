"""The limit on wrong keys: past it, an address gets 429 before any query for a key."""

from __future__ import annotations

from django.conf import settings
from limits import RateLimitItem

from accounts.rates import Count, counter, parse_rate
from api import caller
from api.client_networks import network_of
from api.errors import RateLimited

MOST_KNOWN = 10_000

_known: set[int] = set()
"""Hashes of the secrets that this process has seen accepted. They cost no look at the limit."""


def rate() -> RateLimitItem | None:
    """Return how many wrong keys an address may try; None without a limit."""
    return parse_rate(settings.FAILED_KEYS_LIMIT)


def bucket(address: str) -> str:
    """Return the name under which the wrong keys of an address are counted."""
    return f"wrong:{network_of(address)}"


def refuse_guessing(secret: str, address: str) -> None:
    """Refuse an unknown secret from an address that has tried too many. Raises RateLimited."""
    limit = rate()
    if limit is None or hash(secret) in _known:
        return
    count = counter().look(limit, bucket(address))
    if count is not None and not count.allowed:
        caller.reject(refused_for=count.reset)
        raise RateLimited(
            f"Too many wrong keys came from this address. Try again in {count.reset} s.", wait=count.reset
        )


def accepted(secret: str) -> None:
    """Remember a valid secret."""
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known.add(hash(secret))


def failed(secret: str, address: str) -> Count | None:
    """Count a wrong, expired or revoked secret against its address."""
    _known.discard(hash(secret))
    caller.reject()
    limit = rate()
    return counter().hit(limit, bucket(address)) if limit else None
