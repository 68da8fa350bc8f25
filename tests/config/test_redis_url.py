"""REDIS_URL: one Redis. What is something else is said at the start, or by /statusz."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from redis.exceptions import ReadOnlyError

from config.health import views
from config.redis_url import one_redis


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:6379/0", "rediss://user:p%2Cw@redis.example:6380/1?ssl_cert_reqs=required"]
)
def test_one_address_is_taken_as_it_is(url):
    assert one_redis(url) == url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sentinel://one:26379;sentinel://two:26379", "names Sentinels"),
        ("redis+sentinel://one:26379,two:26379/mymaster/0", "names Sentinels"),
        ("redis+cluster://one:6379,two:6379", "a cluster is not supported"),
        ("redis://one:6379,two:6379/0", "a cluster is not supported"),
        ("amqp://one", "must read redis://"),
        ("localhost:6379", "must read redis://"),
    ],
)
def test_anything_else_is_refused_in_words_that_help(url, said):
    with pytest.raises(ImproperlyConfigured, match=said):
        one_redis(url)


def test_no_part_starts_with_it():
    environment = {**os.environ, "REDIS_URL": "sentinel://one:26379"}
    command = [sys.executable, "-c", "import config.settings"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "REDIS_URL names Sentinels" in done.stderr


class FakeRedis:
    """Answers as a server of another kind would."""

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
def test_a_node_of_a_cluster_and_a_replica_are_not_taken_for_a_redis_that_is_gone(monkeypatch, server, said):
    monkeypatch.setattr(views, "redis_client", lambda: server)
    assert said in views.CHECKS["redis"]()
