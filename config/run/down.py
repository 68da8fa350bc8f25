"""`make down`: end the `make run` of this DATA_DIR, and wait until all of it is gone."""

import os
import signal
import sys
from pathlib import Path

from config.processes.listing import command_of
from config.run.lock import holder, lock_file, lock_when_free, try_lock
from config.settings import DATA_DIR


def down(data_dir: Path) -> str:
    """End what runs; returns what happened, in a sentence. Raises TimeoutError when it stays."""
    nothing = f"Nothing runs in {data_dir}."
    if not lock_file(data_dir).exists():
        return nothing
    if (descriptor := try_lock(data_dir)) is not None:
        os.close(descriptor)
        return nothing
    pid = holder(data_dir)
    if pid and "config.run" in command_of(pid):  # else it died, and only its guardian cleans up
        os.kill(pid, signal.SIGTERM)
    if (descriptor := lock_when_free(data_dir)) is None:
        raise TimeoutError(f"Process {pid} was asked to end, but has not.")
    os.close(descriptor)
    return f"Ended process {pid} and all of its parts."


def main() -> None:
    """Tell what happened; exit code 1 when it does not end."""

    try:
        sys.stdout.write(f"{down(DATA_DIR)}\n")
    except TimeoutError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
