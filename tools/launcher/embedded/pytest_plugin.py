"""A pytest plugin (`addopts`) with servers and a DATA_DIR for one test run.

It sets the environment variables before Django reads them.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest

from tools.launcher.embedded.servers import temporary_servers


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start each server whose URL is not set. The workers of pytest-xdist inherit the URLs."""
    if "PYTEST_XDIST_WORKER" not in os.environ and not _runs_no_test(early_config):
        cleanup = ExitStack()
        early_config.add_cleanup(cleanup.close)
        for name, url in cleanup.enter_context(temporary_servers(os.environ)).items():
            os.environ[name] = url
            cleanup.callback(os.environ.pop, name)
        if "DATA_DIR" not in os.environ:  # tests must not see the files of a running service
            os.environ["DATA_DIR"] = cleanup.enter_context(TemporaryDirectory())
            cleanup.callback(os.environ.pop, "DATA_DIR")
    if "REDIS_URL" in os.environ:
        os.environ["REDIS_URL"] = _own_redis(os.environ["REDIS_URL"])
    return (yield)


def _own_redis(url: str) -> str:
    """Return the URL with another database for each xdist worker, because tests clear their database."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return url if not number else urlsplit(url)._replace(path=f"/{int(number) + 1}").geturl()


def _runs_no_test(config: pytest.Config) -> bool:
    options = config.known_args_namespace
    return any(getattr(options, name, False) for name in ("help", "version", "collectonly"))
