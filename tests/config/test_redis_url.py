"""REDIS_URL names one Redis, or Sentinels. The start or /statusz reports other values as errors."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from redis.connection import SSLConnection
from redis.exceptions import ReadOnlyError

from api.redis_clients import redis_client
from config.health import views
from config.redis_url import broker, checked


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:6379/0",
        "rediss://user:p%2Cw@redis.example:6380/1?ssl_cert_reqs=required",
        "redis://:a,b@[::1]:6379",
        "redis+sentinel://one/mymaster",
    ],
)
def test_a_single_address_is_used_unchanged(url):
    assert checked(url) == url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sentinel://one:26379;sentinel://two:26379", "names Sentinels"),
        ("redis+sentinel://one:26379,two:26379", "where mymaster is the name of the master"),
        ("redis+sentinel://one:26379,two:x/mymaster", "names Sentinels"),
        ("redis+sentinel://one:26379/mymaster/first", "names Sentinels"),
        ("redis+sentinel://one:26379/mymaster?password=secret", "names Sentinels"),
        ("redis+cluster://one:6379,two:6379", "a cluster is not supported"),
        ("redis://one:6379,two:6379/0", "a cluster is not supported"),
        ("redis://one:6379,[::1]:6379/0", "a cluster is not supported"),
        ("amqp://one", "must read redis://"),
        ("localhost:6379", "must read redis://"),
        ("redis://localhost:6379x/0", "numbers for the port and the database"),
        ("redis://localhost:6379/first", "numbers for the port and the database"),
        ("redis://:p#w@localhost:6379/0", "such as %23 for #"),
    ],
)
def test_other_urls_are_refused_with_a_remedy(url, said):
    with pytest.raises(ImproperlyConfigured, match=said):
        checked(url)


SENTINELS = "redis+sentinel://ada:p%40w%2C@one,two:5000,[::1]:7/mymaster/3?sentinel_password=a%26b"


def test_sentinels_that_name_the_master_have_their_own_login():
    pool: Any = redis_client(SENTINELS, seconds=0.5).connection_pool
    master, asked = pool.connection_kwargs, pool.sentinel_manager
    assert (pool.service_name, master["db"], master["username"], master["password"]) == (
        "mymaster",
        3,
        "ada",
        "p@w,",
    )
    theirs = [each.connection_pool.connection_kwargs for each in asked.sentinels]
    assert [(each["host"], each["port"]) for each in theirs] == [("one", 26379), ("two", 5000), ("::1", 7)]
    assert {each["password"] for each in theirs} == {"a&b"}
    for each in [master, *theirs]:
        assert (each["socket_timeout"], each["socket_connect_timeout"]) == (0.5, 0.5)


def test_celery_finds_login_and_database_at_each_sentinel():
    found = broker(SENTINELS, {"socket_timeout": 1.0})
    assert found.url.split(";") == [
        "sentinel://ada:p%40w%2C@one:26379/3",
        "sentinel://ada:p%40w%2C@two:5000/3",
        "sentinel://ada:p%40w%2C@[::1]:7/3",
    ]
    assert found.options["master_name"] == "mymaster"
    assert found.options["socket_timeout"] == found.options["sentinel_kwargs"]["socket_timeout"] == 1.0
    assert found.options["sentinel_kwargs"]["password"] == "a&b"
    assert found.ssl is None


def test_with_tls_sentinels_and_master_are_reached_by_tls():
    url = SENTINELS.replace("redis+", "rediss+")
    pool: Any = redis_client(url, seconds=0.5).connection_pool
    assert issubclass(pool.connection_class, SSLConnection)
    for each in pool.sentinel_manager.sentinels:
        assert issubclass(each.connection_pool.connection_class, SSLConnection)
    found = broker(url, {})
    assert (found.ssl, found.options["sentinel_kwargs"]["ssl"]) == ({"ssl_cert_reqs": "required"}, True)


@pytest.mark.program
def test_no_part_starts_with_an_unsupported_url():
    environment = {**os.environ, "REDIS_URL": "sentinel://one:26379"}
    command = [sys.executable, "-c", "import config.settings"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "REDIS_URL names Sentinels" in done.stderr


class FakeRedis:
    """A connection to a server that is a node of a cluster, a replica, or a plain server."""

    def __init__(self, cluster: int, error: Exception | None = None) -> None:
        self.cluster, self.error = cluster, error

    def __enter__(self) -> FakeRedis:
        return self

    def __exit__(self, *_: object) -> None: ...

    def info(self, section: str) -> dict[str, int]:
        assert section == "cluster"
        return {"cluster_enabled": self.cluster}

    def set(self, *_: object, **__: object) -> None:
        if self.error:
            raise self.error


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (FakeRedis(1), "is a node of a cluster"),
        (FakeRedis(0, ReadOnlyError("You can't write against a read only replica.")), "is a replica"),
        (FakeRedis(0), "ok"),
    ],
)
def test_a_cluster_node_and_a_replica_are_not_reported_as_a_missing_redis(monkeypatch, server, said):
    monkeypatch.setattr(views, "redis_client", lambda: server)
    assert said in views.CHECKS["redis"]()
