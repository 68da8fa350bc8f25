"""REDIS_URL is the address of one Redis: what is none is refused at the start, not at the first order."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

SENTINEL = (
    "REDIS_URL names Sentinels. The service speaks to one address: that of a proxy which follows the master "
    "(docs/running.md, *Redis with a standby*)."
)
SEVERAL = (
    "REDIS_URL names several servers. The service speaks to one Redis; a cluster is not supported "
    "(docs/running.md, *Redis with a standby*)."
)
OTHER = "REDIS_URL must read redis://host:6379/0, or rediss:// with TLS, not {scheme}://."


def one_redis(url: str) -> str:
    """The URL, if it is the address of one Redis. Raises ImproperlyConfigured that says what to write."""
    parts = urlsplit(url)
    if "sentinel" in parts.scheme or "master_name=" in parts.query:
        raise ImproperlyConfigured(SENTINEL)
    if "cluster" in parts.scheme or "," in parts.netloc or ";" in url:
        raise ImproperlyConfigured(SEVERAL)
    if parts.scheme not in ("redis", "rediss"):
        raise ImproperlyConfigured(OTHER.format(scheme=parts.scheme))
    return url
