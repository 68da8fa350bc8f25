"""The reaper's process: ends what the launcher left behind when that was killed (`kill -9`).

It reads commands from a pipe that the system closes when the launcher dies: `+ GROUP SIGNAL` and `- GROUP`
for process groups, `! PATH` for a folder or file to remove. When the pipe closes, it ends the groups that it
still holds. It runs alone, as `python -I -S process.py SECONDS` (the seconds between the stop signal and
SIGKILL), so it imports nothing of the project.
"""

import contextlib
import os
import shutil
import sys
import time

SIGKILL = 9


def send(group: int, number: int) -> bool:
    """Signal a group. Return whether any of its processes is still running."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def end_all(groups: dict[int, int], stop_timeout: float) -> None:
    """Send every group its stop signal, wait this many seconds, then kill it."""
    left = [group for group, number in groups.items() if send(group, number)]
    deadline = time.monotonic() + stop_timeout
    while left and time.monotonic() < deadline:
        time.sleep(0.02)  # not our children: the system does not report their end
        left = [group for group in left if send(group, 0)]
    for group in left:
        send(group, SIGKILL)


def remove(path: str) -> None:
    """Remove a folder with its content, or a file. It may be missing."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(path)


def main() -> None:
    """Follow commands until the pipe closes, then clean up."""
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
