"""The limit of wrong keys for each network address.

Above the limit, requests with a key that this process does not know get 429 before any query.
"""

from __future__ import annotations

from django.conf import settings
from limits import RateLimitItem
from rest_framework.response import Response

from accounts.rates import counter, parse_rate
from api import caller
from api.client_networks import network_of
from api.errors import RateLimited

MOST_KNOWN = 10_000

_known: set[int] = set()
"""Hashes of the secrets that this process has accepted. Requests with these secrets skip the limit."""


def rate() -> RateLimitItem | None:
    """Return how many wrong keys an address may try, or None if there is no limit."""
    return parse_rate(settings.FAILED_KEYS_LIMIT)


def bucket(address: str) -> str:
    """Return the name under which the wrong keys of an address are counted."""
    return f"wrong:{network_of(address)}"


def refuse_guessing(secret: str, address: str) -> None:
    """Raise RateLimited for an unknown secret from an address that has sent too many wrong keys."""
    limit = rate()
    if limit is None or hash(secret) in _known:
        return
    count = counter().look(limit, bucket(address))
    if count is not None and not count.allowed:
        caller.reject(refused_for=count.reset)
        raise RateLimited(
            f"Too many wrong keys came from this address. Try again in {count.reset} s.",
            wait=count.reset,
            counted=count.headers("address"),
        )


def accepted(secret: str) -> None:
    """Remember a valid secret, so that `refuse_guessing` does not refuse it."""
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known.add(hash(secret))


def show_limit(response: Response, address: str) -> None:
    """Add the limit of the address to an answer without a known key, unless the answer shows it already."""
    limit = rate()
    if limit is None or "RateLimit-Limit" in response:
        return
    if count := counter().look(limit, bucket(address)):
        for name, value in count.headers("address").items():
            response[name] = value


def failed(secret: str, address: str) -> None:
    """Count a wrong, expired or revoked secret from a network address."""
    _known.discard(hash(secret))
    caller.reject()
    if limit := rate():
        counter().hit(limit, bucket(address))
