"""Turns for the checks of passwords: one check at a time for each address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sftp_ingest.server.addresses import source_of


class _Turn:
    """A lock with the number of its users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0


_turns: dict[str, _Turn] = {}
_turns_lock = threading.Lock()


@contextmanager
def one_at_a_time(address: str, seconds: float) -> Iterator[None]:
    """Allow one block at a time for each address in this process. Raises TimeoutError after `seconds`.

    So each failed password is counted before the next expensive hash is computed.
    """
    source = source_of(address)
    with _turns_lock:
        turn = _turns.setdefault(source, _Turn())
        turn.users += 1
    try:
        if not turn.lock.acquire(timeout=seconds):
            raise TimeoutError(f"too many password logins wait from {source}")
        try:
            yield
        finally:
            turn.lock.release()
    finally:
        with _turns_lock:
            turn.users -= 1
            if not turn.users:
                del _turns[source]
