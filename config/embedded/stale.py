"""A lock file that a crash left in PostgreSQL's data folder must not prevent the next start."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from config.processes.listing import command_of

PATIENCE = 15.0  # seconds for a server that lost its supervisor to end


def clear_stale_lock(data: Path) -> None:
    """Remove the lock of a dead server; end a live one whose supervisor is gone.

    PostgreSQL itself takes the lock for live when *any* process has its number, as happens after a
    restart of a machine or container. The caller holds the installation's own lock, so a server
    that does run over this folder belongs to nobody.
    """
    lock = data / "postmaster.pid"
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        lock.unlink(missing_ok=True)
        return
    deadline = time.monotonic() + PATIENCE
    while _serves(pid, data):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT if time.monotonic() < deadline else signal.SIGQUIT)
        time.sleep(0.1)  # not our child: its end can only be looked for
    lock.unlink(missing_ok=True)


def _serves(pid: int, data: Path) -> bool:
    """Whether this process is a PostgreSQL over this data folder."""
    return f"-D {data} " in command_of(pid)
