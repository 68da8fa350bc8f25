"""The guardian: ends what its starter left behind, when that dies without a word (`kill -9`).

It reads its orders from a pipe that closes by itself with its starter: `+ GROUP SIGNAL` and
`- GROUP` for process groups, `! PATH` for a folder or file to remove. At the pipe's end it ends what it
still holds. Runs alone (`python -I -S guardian.py`), so it imports nothing of the project.
"""

import contextlib
import os
import shutil
import sys
import time

PATIENCE = 5.0  # seconds between the polite signal and SIGKILL
SIGKILL = 9


def send(group: int, number: int) -> bool:
    """Signal a group; whether anything of it is left."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def end_all(groups: dict[int, int]) -> None:
    """Ask every group to end, wait a while, then insist."""
    left = [group for group, number in groups.items() if send(group, number)]
    deadline = time.monotonic() + PATIENCE
    while left and time.monotonic() < deadline:
        time.sleep(0.02)  # not our children: their end can only be looked for
        left = [group for group in left if send(group, 0)]
    for group in left:
        send(group, SIGKILL)


def remove(path: str) -> None:
    """Remove a folder with all in it, or a file; either may be gone."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(path)


def main() -> None:
    """Follow the orders until the pipe ends, then clean up."""
    groups: dict[int, int] = {}
    leftovers: list[str] = []
    for line in sys.stdin:
        order, value = line[0], line[2:].rstrip("\n")
        if order == "+":
            group, number = value.split()
            groups[int(group)] = int(number)
        elif order == "-":
            groups.pop(int(value), None)
        elif order == "!":
            leftovers.append(value)
    end_all(groups)
    for path in leftovers:
        remove(path)


if __name__ == "__main__":
    main()
