"""Waiting for what another process does: on conditions, with a deadline."""

import time
from collections.abc import Callable, Iterable

from config.processes.listing import command_of

PATIENCE = 20.0


def eventually(condition: Callable[[], object], what: str) -> None:
    """Return as soon as the condition holds; fail when it does not come to that."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE:g} s in vain: {what}"
        time.sleep(0.02)


def eventually_gone(pids: Iterable[int]) -> None:
    """Return as soon as none of these processes is there."""
    pids = list(pids)
    assert pids
    eventually(lambda: not any(command_of(pid) for pid in pids), f"{pids} are gone")
