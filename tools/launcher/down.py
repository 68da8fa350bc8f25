"""`make down`: stop the `make run` of this DATA_DIR, and wait until all its processes have ended."""

import os
import signal
import sys
from pathlib import Path

from config.settings import DATA_DIR
from tools.launcher.lock import holder, is_launcher, lock_file, lock_when_free, try_lock


def down(data_dir: Path) -> str:
    """Stop the running Exchange and return a sentence for the user. Raises TimeoutError."""
    nothing = f"Nothing runs in {data_dir}."
    if not lock_file(data_dir).exists():
        return nothing
    if (descriptor := try_lock(data_dir)) is not None:
        os.close(descriptor)
        return nothing
    pid = holder(data_dir)
    if pid and is_launcher(pid):  # otherwise the launcher was killed, and only its reaper still runs
        os.kill(pid, signal.SIGTERM)
    if (descriptor := lock_when_free(data_dir)) is None:
        raise TimeoutError(f"Process {pid} was asked to end, but has not.")
    os.close(descriptor)
    return f"Stopped process {pid} and all processes that it started."


def main() -> None:
    """Print the result. Exit with code 1 if the Exchange does not end."""
    try:
        sys.stdout.write(f"{down(DATA_DIR)}\n")
    except TimeoutError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
