"""Checks that may hang, each in its own thread.

While a check hangs, callers get the last known state.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

WAIT_SECONDS = 1.0
"""How long a caller waits for a fresh result."""


class ApartCheck:
    """A check, its last result, and the thread that runs it. A hanging check is not started again."""

    def __init__(self, check: Callable[[], str], *, wait: float = WAIT_SECONDS) -> None:
        self._check = check
        self._wait = wait
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._is_running = False
        self._state = ""
        self._begun_at = 0.0

    def __call__(self) -> str:
        """Return the state. While the check hangs, return the seconds since its start, and the last state."""
        with self._lock:
            if not self._is_running:
                self._is_running, self._begun_at = True, time.monotonic()
                self._done.clear()
                threading.Thread(target=self._run, daemon=True).start()
        if self._done.wait(self._wait):
            return self._state
        seconds = time.monotonic() - self._begun_at
        return f"has not answered for {seconds:.0f} s (before: {self._state or 'unknown'})"

    def _run(self) -> None:
        try:
            state = self._check()
        except Exception as error:  # noqa: BLE001 - the state reports any error
            state = f"failed ({type(error).__name__})"
        with self._lock:
            self._state, self._is_running = state, False
            self._done.set()
