"""The file lock that allows one `make run` per DATA_DIR. The file contains the id of the locking process."""

import fcntl
import os
import time
from pathlib import Path

from tools.launcher.processes.command_line import command_of

TIMEOUT = 60.0  # seconds for an earlier run to end
# The names of launchers on a command line. The later names belong to older versions, which may still run.
MODULES = ("-m tools.launcher", "-m launcher", "-m config.run")


def lock_file(data_dir: Path) -> Path:
    """Return the file that is locked while the Exchange runs. It contains the launcher's process id."""
    return data_dir / "run.lock"


def try_lock(data_dir: Path) -> int | None:
    """Lock the file and return its descriptor, or None while another run or its reaper holds the lock."""
    data_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock_file(data_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def write_holder(descriptor: int) -> None:
    """Write the id of this process into the locked file."""
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def holder(data_dir: Path) -> int | None:
    """Return the process id in the lock file, or None. The process may have ended."""
    try:
        return int(lock_file(data_dir).read_text())
    except (OSError, ValueError):
        return None


def is_launcher(pid: int) -> bool:
    """Return whether this process is a launcher. The system may have given its id to another program."""
    return any(module in command_of(pid) for module in MODULES)


def lock_when_free(data_dir: Path) -> int | None:
    """Wait until the file is unlocked, lock it, and return its descriptor. Return None after TIMEOUT."""
    deadline = time.monotonic() + TIMEOUT
    while (descriptor := try_lock(data_dir)) is None and time.monotonic() < deadline:
        time.sleep(0.05)  # flock has no timeout, so try again
    return descriptor
