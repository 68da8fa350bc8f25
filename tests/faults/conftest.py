"""Programs that tests start: a web server and a worker on the tests' database, and a Redis that can hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from django.conf import settings
from django.db import connection

from tests.faults.web_server import WebServer
from tools.launcher.embedded.ports import free_port
from tools.launcher.embedded.servers import temporary_servers


class OwnRedis:
    """A Redis that only this test uses."""

    def __init__(self, url: str) -> None:
        self.url = url
        with redis.Redis.from_url(url) as client:
            self._pid = int(client.info("server")["process_id"])

    def forget(self) -> None:
        """Delete all data of this Redis."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Freeze Redis during the block: it accepts connections and commands, and answers nothing."""
        os.kill(self._pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def own_redis() -> Iterator[OwnRedis]:
    with temporary_servers({"DATABASE_URL": "there is one"}) as urls:
        yield OwnRedis(urls["REDIS_URL"])


def database_url() -> str:
    """Return the URL of the tests' database for the environment of another program."""
    found = connection.settings_dict
    user, password = quote(found["USER"]), quote(found["PASSWORD"], safe="")
    return f"postgresql://{user}:{password}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a program that works on the tests' database."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "UPLOADS_DIR": str(folder / "uploads"),
        "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics"),
        "WEB_WORKERS": "1",
        "LOG_LEVEL": "WARNING",
        **variables,
    }


@pytest.fixture(scope="module")
def start_web(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., WebServer]]:
    """Yield a function that starts a web server on the tests' database. Keywords set its environment."""
    with ExitStack() as cleanup:

        def start(**variables: str) -> WebServer:
            port = free_port()
            own = environment(tmp_path_factory.mktemp("web"), PORT=str(port), **variables)
            command = [sys.executable, "-m", "gunicorn", "config.wsgi"]
            process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=own)
            cleanup.callback(_stop, process)
            server = WebServer(port)
            server.wait_until_up(process)
            return server

        yield start


@pytest.fixture
def start_worker(django_db_setup: None, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Yield a function that starts a worker, which runs imports and ticks, and sends the ticks itself."""
    with ExitStack() as cleanup:

        def start(**variables: str) -> subprocess.Popen[bytes]:
            schedule = str(tmp_path / "schedule")
            command = [sys.executable, "-m", "celery", "-q", "-A", "config", "worker", "--pool", "threads"]
            process = subprocess.Popen(
                [*command, "--concurrency", "4", "-Q", "celery,ticks", "--beat", "--schedule", schedule],
                cwd=settings.BASE_DIR,
                env=environment(tmp_path, **variables),
            )
            cleanup.callback(_stop, process)
            return process

        yield start


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
