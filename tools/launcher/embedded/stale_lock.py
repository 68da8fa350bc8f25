"""The removal of PostgreSQL's lock file after a crash, because the file would prevent the next start."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from tools.launcher.processes.command_line import command_of

STOP_TIMEOUT = 15.0  # seconds for the end of a server whose supervisor has ended


def clear_stale_lock(data: Path) -> None:
    """Remove the lock file of a server that has ended. Stop a server that still runs without a supervisor.

    PostgreSQL itself respects the lock file if *any* process has the id in the file. After a restart of a
    machine or container, another program may have this id. The caller holds the lock of DATA_DIR, so a server
    that runs on this folder belongs to no other launcher.
    """
    lock = data / "postmaster.pid"
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        lock.unlink(missing_ok=True)
        return
    deadline = time.monotonic() + STOP_TIMEOUT
    while _serves(pid, data):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT if time.monotonic() < deadline else signal.SIGQUIT)
        time.sleep(0.1)  # poll, because the system reports only the end of child processes
    lock.unlink(missing_ok=True)


def _serves(pid: int, data: Path) -> bool:
    """Return whether this process is a PostgreSQL with this data folder."""
    return f"-D {data} " in command_of(pid)
