"""The check of REDIS_URL when a process starts, and Celery's broker settings from this URL.

The URL must name one Redis, or Sentinels.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from api.redis_clients import Sentinels

DATABASE = re.compile(r"(/\d*)?/?")
"""The path of a URL: redis-py would silently use database 0 for another path."""
SENTINEL = (
    "REDIS_URL names Sentinels as redis+sentinel://user:password@one:26379,two:26379/mymaster/0, where"
    " mymaster is the name of the master (docs/running.md, *Redis with a standby*)."
)
SEVERAL = (
    "REDIS_URL names several servers. The service uses one Redis; a cluster is not supported "
    "(docs/running.md, *Redis with a standby*)."
)
OTHER = "REDIS_URL must read redis://host:6379/0, or rediss:// with TLS, not {scheme}://."
UNREADABLE = (
    "REDIS_URL must read redis://user:password@host:6379/0, with numbers for the port and the database. "
    "Encode special characters of the password, such as %23 for #."
)


def checked(url: str) -> str:
    """Return the URL if it is supported. Raises ImproperlyConfigured that shows a supported URL."""
    if _sentinels(url):
        return url
    scheme, _, rest = url.partition("://")
    if "sentinel" in scheme or "master_name=" in rest:
        raise ImproperlyConfigured(SENTINEL)
    if "cluster" in scheme or "," in rest.partition("/")[0].rpartition("@")[2] or ";" in url:
        raise ImproperlyConfigured(SEVERAL)
    if scheme.lower() not in ("redis", "rediss"):
        raise ImproperlyConfigured(OTHER.format(scheme=scheme))
    try:
        parse_url(url)  # type: ignore[no-untyped-call]
        readable = bool(DATABASE.fullmatch(urlsplit(url).path))
    except ValueError:
        readable = False
    if not readable:
        raise ImproperlyConfigured(UNREADABLE)
    return url


def _sentinels(url: str) -> Sentinels | None:
    try:
        return Sentinels.parse(url)
    except ValueError as error:
        raise ImproperlyConfigured(SENTINEL) from error


class Broker(NamedTuple):
    """Celery's broker settings for REDIS_URL."""

    url: str
    options: dict[str, Any]
    """The value of `broker_transport_options`."""
    ssl: dict[str, str] | None


def broker(url: str, limits: dict[str, object]) -> Broker:
    """Return Celery's broker settings. `limits` are timeouts of redis-py, for Redis and for Sentinels."""
    sentinels = _sentinels(url)
    if sentinels is None:
        return Broker(url, limits, None)
    login = ":".join(quote(sentinels.login.get(name, ""), safe="") for name in ("username", "password"))
    # Repeat login and database in each URL, because Celery reads both from the URL of the Sentinel in use.
    hosts = [f"sentinel://{login}@{host}:{port}/{sentinels.database}" for host, port in sentinels.addresses()]
    sentinel_options = {**limits, **sentinels.own_options(), "retry": Retry(NoBackoff(), 0)}
    return Broker(
        ";".join(hosts),
        {**limits, "master_name": sentinels.master, "sentinel_kwargs": sentinel_options},
        {"ssl_cert_reqs": "required"} if sentinels.tls else None,
    )
