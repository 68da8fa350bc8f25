"""Gives a test run servers and a folder of its own, before Django reads its settings: see `addopts`."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest

from config.embedded.servers import passing_servers


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start what no URL was given for; workers of xdist find the controller's in their environment."""
    if "PYTEST_XDIST_WORKER" not in os.environ and not _only_talks(early_config):
        cleanup = ExitStack()
        early_config.add_cleanup(cleanup.close)
        for name, url in cleanup.enter_context(passing_servers(os.environ)).items():
            os.environ[name] = url
            cleanup.callback(os.environ.pop, name)
        if "DATA_DIR" not in os.environ:  # what a service left in its own is nothing to tests
            os.environ["DATA_DIR"] = cleanup.enter_context(TemporaryDirectory())
            cleanup.callback(os.environ.pop, "DATA_DIR")
    if "REDIS_URL" in os.environ:
        os.environ["REDIS_URL"] = _own_redis(os.environ["REDIS_URL"])
    return (yield)


def _own_redis(url: str) -> str:
    """The same Redis, a database of its own for each worker of xdist: tests clear theirs."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return url if not number else urlsplit(url)._replace(path=f"/{int(number) + 1}").geturl()


def _only_talks(config: pytest.Config) -> bool:
    options = config.known_args_namespace
    return any(getattr(options, name, False) for name in ("help", "version", "collectonly"))
