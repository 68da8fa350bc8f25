"""The real server, as `make run` starts it, on a free port and a database of the bench."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from tools.bench.database import database_url
from tools.bench.sizes import size
from tools.launcher import programs
from tools.launcher.embedded.ports import free_port
from tools.launcher.processes.program import Program, spawn, stop

START_TIMEOUT = 60.0
WORKERS = size(2, smoke=1)


@contextmanager
def running_service(database: str = "", workers: int = WORKERS, **variables: str) -> Iterator[int]:
    """Run gunicorn on Django's database, or on another database of its server; yield its port."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "web.log").open("wb") as log:
        port = free_port()
        environment = {
            **os.environ,
            "DATABASE_URL": database_url(database),
            "DJANGO_SETTINGS_MODULE": "tools.bench.serving.settings",
            "PROMETHEUS_MULTIPROC_DIR": f"{folder}/metrics",
            **variables,
        }
        web = programs.separate_parts(environment)[0]
        bind = ("--bind", f"127.0.0.1:{port}")
        command = [*web.command, *bind, "--workers", str(workers), "--max-requests", "0"]
        program = Program("web", tuple(command), web.folder, environment)
        process = spawn(program, log)
        try:
            _wait_for(port, process, Path(log.name))
            yield port
        finally:
            stop(program, process)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/healthz", timeout=START_TIMEOUT):
            return
        time.sleep(0.1)  # gunicorn does not announce that it is ready, so poll
    raise SystemExit(f"The server did not start:\n{log.read_text()[-2000:]}")
