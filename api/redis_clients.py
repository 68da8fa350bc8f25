"""Clients of a Redis with a fixed address, or of the current master that Sentinels report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from api.several_hosts import SeveralHostsUrl

SENTINEL_PORT = 26379
SENTINEL_SCHEMES = ("redis+sentinel:", "rediss+sentinel:")


@dataclass(frozen=True)
class Sentinels:
    """The Sentinels, the name of the master that they know, and the logins for Sentinels and master."""

    hosts: tuple[tuple[str, int], ...]
    master: str
    database: int
    tls: bool
    login: dict[str, str]
    """`username` and `password` for the master. Empty if the master needs no login."""
    own_login: dict[str, str]
    """`username` and `password` for the Sentinels. Empty if the Sentinels need no login."""

    @classmethod
    def parse(cls, url: str) -> Sentinels | None:
        """Parse a URL that names Sentinels. Return None for another kind of URL, such as `redis://`.

        Raises ValueError that shows a correct URL if this URL is wrong. The form of the URL is
        `redis+sentinel://user:password@one:26379,two:26379/mymaster/0?sentinel_password=…`
        """
        if not url.lower().startswith(SENTINEL_SCHEMES):
            return None
        parts = SeveralHostsUrl.split(url)
        rest = urlsplit(parts.rest)
        path = re.fullmatch(r"/([A-Za-z0-9._-]+)(?:/(\d+))?/?", rest.path)
        options = dict(parse_qsl(rest.query))
        if not path or options.keys() - {"sentinel_username", "sentinel_password"}:
            raise ValueError("It must read redis+sentinel://one:26379,two:26379/name-of-the-master/0.")
        user, _, password = (parts.login or "").partition(":")
        return cls(
            hosts=tuple((host, int(port or SENTINEL_PORT)) for host, port in parts.addresses()),
            master=path[1],
            database=int(path[2] or 0),
            tls=parts.scheme == "rediss+sentinel",
            login=_given(username=unquote(user), password=unquote(password)),
            own_login=_given(
                username=options.get("sentinel_username", ""), password=options.get("sentinel_password", "")
            ),
        )

    def addresses(self) -> list[tuple[str, int]]:
        """Return the hosts, with brackets around an IPv6 address as in a URL, and the ports."""
        return [(f"[{host}]" if ":" in host else host, port) for host, port in self.hosts]

    def own_options(self) -> dict[str, object]:
        """Return the TLS and login options of a client of the Sentinels."""
        return {**({"ssl": True} if self.tls else {}), **self.own_login}

    def client(self, limits: dict[str, object], **options: object) -> redis.Redis:
        """Return a client that asks the Sentinels for the master before each new connection."""
        untyped: Any = Sentinel  # redis-py has no types for this class
        sentinel = untyped(self.hosts, sentinel_kwargs={**limits, **self.own_options()}, **limits, **options)
        tls = {"ssl": True} if self.tls else {}
        master: redis.Redis = sentinel.master_for(self.master, db=self.database, **tls, **self.login)
        return master


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def redis_client(url: str, *, seconds: float, **options: object) -> redis.Redis:
    """Return a client that gives up after `seconds` and never retries. Callers decide about retries."""
    limits: dict[str, object] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
    }
    sentinels = Sentinels.parse(url)
    if sentinels is not None:
        return sentinels.client(limits, **options)
    return redis.Redis.from_url(url, **limits, **options)
