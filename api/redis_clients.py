"""How this process comes to Redis: one address, or that of whoever is the master now, as Sentinels say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

SENTINEL_PORT = 26379
SENTINEL_SCHEMES = ("redis+sentinel", "rediss+sentinel")
HOST = re.compile(r"(\[[^\]]+\]|[^:\[\]]+)(?::(\d+))?")


@dataclass(frozen=True)
class Sentinels:
    """Who is asked for the master, by what name, and what it and they want to hear."""

    hosts: tuple[tuple[str, int], ...]
    master: str
    database: int
    tls: bool
    login: dict[str, str]
    """`username` and `password` of the master, where it has them."""
    own_login: dict[str, str]
    """The same of the Sentinels."""

    @classmethod
    def parse(cls, url: str) -> Sentinels | None:
        """The Sentinels that a URL names, if it does. Raises ValueError that says how such a URL reads.

        `redis+sentinel://user:password@one:26379,two:26379/mymaster/0?sentinel_password=…`
        """
        parts = urlsplit(url)
        if parts.scheme not in SENTINEL_SCHEMES:
            return None
        before, _, places = parts.netloc.rpartition("@")
        hosts = [HOST.fullmatch(place) for place in places.split(",")]
        path = re.fullmatch(r"/([A-Za-z0-9._-]+)(?:/(\d+))?/?", parts.path)
        asked = dict(parse_qsl(parts.query))
        if None in hosts or not path or asked.keys() - {"sentinel_username", "sentinel_password"}:
            raise ValueError("It must read redis+sentinel://one:26379,two:26379/name-of-the-master/0.")
        user, _, password = before.partition(":")
        return cls(
            hosts=tuple((each[1].strip("[]"), int(each[2] or SENTINEL_PORT)) for each in hosts if each),
            master=path[1],
            database=int(path[2] or 0),
            tls=parts.scheme == "rediss+sentinel",
            login=_given(username=unquote(user), password=unquote(password)),
            own_login=_given(
                username=asked.get("sentinel_username", ""), password=asked.get("sentinel_password", "")
            ),
        )

    def places(self) -> list[tuple[str, int]]:
        """Their hosts as a URL has them, and their ports."""
        return [(f"[{host}]" if ":" in host else host, port) for host, port in self.hosts]

    def own_options(self) -> dict[str, Any]:
        """What a client of theirs is made with, besides limits of time."""
        return {**({"ssl": True} if self.tls else {}), **self.own_login}

    def client(self, limits: dict[str, Any], **options: Any) -> redis.Redis:
        """A client that asks them who the master is whenever it makes a connection."""
        sentinel: Any = Sentinel  # which has no types
        asked = sentinel(self.hosts, sentinel_kwargs={**limits, **self.own_options()}, **limits, **options)
        tls = {"ssl": True} if self.tls else {}
        found: redis.Redis = asked.master_for(self.master, db=self.database, **tls, **self.login)
        return found


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def redis_client(url: str, *, seconds: float, **options: Any) -> redis.Redis:
    """A client that gives up after so many seconds, and tries nothing twice: whoever asks knows better."""
    limits: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
    }
    sentinels = Sentinels.parse(url)
    if sentinels is not None:
        return sentinels.client(limits, **options)
    return redis.Redis.from_url(url, **limits, **options)
