"""Tells whether a process's main loop still turns. Other threads may run on when it hangs."""

from __future__ import annotations

import time
from collections.abc import Callable

STUCK_AFTER = 60.0
"""Seconds without a turn after which a main loop counts as stuck; a statement of the database may take 30."""


class MainLoop:
    """The turns of a main loop. A loop that hangs gives no sign of life, even if other threads run."""

    def __init__(self, excused: Callable[[], bool] = lambda: False) -> None:
        """Begin with a turn. `excused` tells whether the loop may stand still, such as without its broker."""
        self._excused = excused
        self.turned()

    def turned(self) -> None:
        self._turned_at = time.monotonic()

    def is_turning(self) -> bool:
        """Tell whether the loop has turned lately, or was excused."""
        if time.monotonic() - self._turned_at > STUCK_AFTER and self._excused():
            self.turned()
        return time.monotonic() - self._turned_at <= STUCK_AFTER
