"""The real server, as `make run` starts it, on a free port and a database of the bench."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from django.db import connection

from tools.bench.sizes import size
from tools.launcher import programs
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.program import Program, spawn, stop

START_TIMEOUT = 60.0
WORKERS = size(2, smoke=1)


@dataclass(frozen=True)
class Service:
    """A running gunicorn server: its port, and the id of its main process."""

    port: int
    pid: int

    def workers(self) -> list[int]:
        """Return the ids of the processes that answer requests."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(child) for child in children.split()]


@contextmanager
def running_service(
    database: str = "",
    *,
    workers: int = WORKERS,
    settings: str = "tools.bench.serving.settings",
    rate_limit: str = "off",
) -> Iterator[Service]:
    """Run gunicorn with this many workers on Django's database, or on another database of its server."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "web.log").open("wb") as log:
        port = free_port()
        environment = {
            **os.environ,
            "DATABASE_URL": database_url(database),
            "DJANGO_SETTINGS_MODULE": settings,
            "PROMETHEUS_MULTIPROC_DIR": f"{folder}/metrics",
            "RATE_LIMIT": rate_limit,
        }
        web = programs.separate_parts(environment)[0]
        bind = ("--bind", f"127.0.0.1:{port}")
        command = [*web.command, *bind, "--workers", str(workers), "--max-requests", "0"]
        program = Program("web", tuple(command), web.folder, environment)
        process = spawn(program, log)
        try:
            _wait_for(port, process, Path(log.name))
            yield Service(port, process.pid)
        finally:
            stop(program, process)


def database_url(name: str = "") -> str:
    """Return the URL of Django's database, or of another database on its server."""
    known = connection.settings_dict
    at = f"{known['USER']}:{known['PASSWORD']}@{known['HOST'] or '127.0.0.1'}:{known['PORT'] or 5432}"
    return f"postgresql://{at}/{name or known['NAME']}"


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/healthz", timeout=START_TIMEOUT):
            return
        time.sleep(0.1)  # gunicorn does not announce that it is ready, so poll
    raise SystemExit(f"The server did not start:\n{log.read_text()[-2000:]}")
