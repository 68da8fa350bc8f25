"""One `make run` per DATA_DIR: a file lock that also names the process that holds it."""

import fcntl
import os
import time
from pathlib import Path

from tools.launcher.processes.command_line import command_of

TIMEOUT = 60.0  # seconds for an earlier run to end
# The names of launchers on a command line. The later names belong to older versions, which may still run.
MODULES = ("-m tools.launcher", "-m launcher", "-m config.run")


def lock_file(data_dir: Path) -> Path:
    """Return the file that is locked while the Exchange runs; it holds the process id."""
    return data_dir / "run.lock"


def try_lock(data_dir: Path) -> int | None:
    """Lock the file and return its descriptor, or None while another run or its reaper holds the lock."""
    descriptor = os.open(lock_file(data_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def write_holder(descriptor: int) -> None:
    """Write our process id into the file that we have locked."""
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def holder(data_dir: Path) -> int | None:
    """Return the process id that was written last."""
    try:
        return int(lock_file(data_dir).read_text())
    except (OSError, ValueError):
        return None


def is_launcher(pid: int) -> bool:
    """Return whether this process is a `make run`: the system may have reused its id."""
    return any(module in command_of(pid) for module in MODULES)


def lock_when_free(data_dir: Path) -> int | None:
    """Lock the file as soon as it is free. Return None if that takes too long."""
    deadline = time.monotonic() + TIMEOUT
    while (descriptor := try_lock(data_dir)) is None and time.monotonic() < deadline:
        time.sleep(0.05)  # flock has no timeout, so try again
    return descriptor
