"""One `make run` for one DATA_DIR: a lock that also tells who holds it."""

import fcntl
import os
import time
from pathlib import Path

PATIENCE = 60.0  # seconds for an earlier run to end


def lock_file(data_dir: Path) -> Path:
    """The file that is locked while the Exchange runs; it holds the number of the process."""
    return data_dir / "run.lock"


def try_lock(data_dir: Path) -> int | None:
    """The locked file's descriptor, or None while another run, or what cleans up after one, has it."""
    descriptor = os.open(lock_file(data_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def write_holder(descriptor: int) -> None:
    """Put our number into the file that we have locked."""
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def holder(data_dir: Path) -> int | None:
    """The number of the process that wrote itself down last."""
    try:
        return int(lock_file(data_dir).read_text())
    except (OSError, ValueError):
        return None


def lock_when_free(data_dir: Path) -> int | None:
    """The lock as soon as it is let go; None when that takes too long."""
    deadline = time.monotonic() + PATIENCE
    while (descriptor := try_lock(data_dir)) is None and time.monotonic() < deadline:
        time.sleep(0.05)  # flock has no timeout: it is tried again
    return descriptor
