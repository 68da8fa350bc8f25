"""The scheduler of Celery beat. It keeps the times of the ticks in memory only."""

from __future__ import annotations

from datetime import UTC, datetime

from celery.beat import Scheduler

LONG_AGO = datetime.fromtimestamp(0, UTC)


class TickScheduler(Scheduler):  # type: ignore[misc] # Celery has no types
    """Send all ticks after a start, and again after the machine's clock was set back.

    An extra tick does no harm. With the times of the former clock, no tick would be due until the clock
    reaches these times again. A file of these times would also need a folder that beat may write.
    """

    _last_turn = LONG_AGO

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self._make_all_due()

    def tick(self) -> float:
        """Send a due tick, if there is one. Return the seconds until the next turn."""
        now = self.app.now()
        if now < self._last_turn:
            self._make_all_due()
        self._last_turn = now
        seconds: float = super().tick()
        return seconds

    def _make_all_due(self) -> None:
        for entry in self.schedule.values():
            entry.last_run_at = LONG_AGO
        self._heap = None
