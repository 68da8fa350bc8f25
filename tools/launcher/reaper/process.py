"""The reaper's process, which ends the launcher's programs even if the launcher was killed (`kill -9`).

It reads commands from a pipe. `+ GROUP SIGNAL` adds a process group, `- GROUP` removes it from the list, and
`! PATH` names a folder or file to remove. When the launcher dies, the system closes the pipe, and the reaper
ends the groups on its list. It runs as `python -I -S process.py SECONDS` (the seconds between the stop signal
and SIGKILL), so it imports nothing of the project.
"""

import contextlib
import os
import shutil
import sys
import time

SIGKILL = 9


def send(group: int, number: int) -> bool:
    """Send a signal to a process group. Return whether any of its processes was still running."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def end_all(groups: dict[int, int], stop_timeout: float) -> None:
    """Send every group its stop signal, and kill the groups that still run after the timeout."""
    left = [group for group, number in groups.items() if send(group, number)]
    deadline = time.monotonic() + stop_timeout
    while left and time.monotonic() < deadline:
        time.sleep(0.02)  # poll, because the system reports only the end of child processes
        left = [group for group in left if send(group, 0)]
    for group in left:
        send(group, SIGKILL)


def remove(path: str) -> None:
    """Remove a folder with its content, or a file. Ignore a missing path."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(path)


def main() -> None:
    """Read commands until the pipe closes, then end the groups and remove the files."""
    groups: dict[int, int] = {}
    leftovers: list[str] = []
    for line in sys.stdin:
        command, value = line[0], line[2:].rstrip("\n")
        if command == "+":
            group, number = value.split()
            groups[int(group)] = int(number)
        elif command == "-":
            groups.pop(int(value), None)
        elif command == "!":
            leftovers.append(value)
    end_all(groups, float(sys.argv[1]))
    for path in leftovers:
        remove(path)


if __name__ == "__main__":
    main()
