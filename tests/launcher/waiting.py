"""Waits for other processes, with a deadline."""

import time
from collections.abc import Callable, Iterable

from tools.launcher.processes.command_line import command_of

# Long enough for a busy disk, on which the files of a cluster have taken 15 seconds to delete.
TIMEOUT = 60.0


def eventually(condition: Callable[[], object], what: str) -> None:
    """Return as soon as the condition holds; fail after TIMEOUT."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, f"waited {TIMEOUT:g} s in vain until {what}"
        time.sleep(0.02)


def eventually_gone(pids: Iterable[int]) -> None:
    """Return as soon as all of these processes are gone."""
    pids = list(pids)
    assert pids
    eventually(lambda: not any(command_of(pid) for pid in pids), f"{pids} are gone")
