"""A check that the main loop of a process does not hang. Each iteration of the loop is called a turn.

Other threads of the process may still run while the main loop hangs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STUCK_AFTER = 60.0
"""Seconds without a turn after which a main loop counts as stuck. A database statement may take 30 s."""


class MainLoop:
    """The time of a main loop's last turn. A process whose loop hangs must not report that it is alive."""

    def __init__(self, excused: Callable[[], bool] = lambda: False) -> None:
        """Count the start as a turn.

        `excused` returns True while the loop is allowed to stand still, for example without a broker.
        """
        self._excused = excused
        self.turned()

    def turned(self) -> None:
        self._turned_at = time.monotonic()

    def is_turning(self) -> bool:
        """Tell whether the loop has made a turn within STUCK_AFTER seconds, or is allowed to stand still."""
        if time.monotonic() - self._turned_at > STUCK_AFTER and self._excused():
            self.turned()
        return time.monotonic() - self._turned_at <= STUCK_AFTER
