"""The time limits of a supplier's work, from its partnership with the retailer."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol

from fulfillments.states import ACCEPTED, CANCELING, NEW, NOT_ALLOWED, WORKABLE, State


class TimeLimits(Protocol):
    """A partnership's limits in hours. None means no limit."""

    @property
    def hours_to_capture(self) -> int | None: ...
    @property
    def hours_to_accept(self) -> int | None: ...
    @property
    def hours_to_ship(self) -> int | None: ...
    @property
    def hours_to_answer(self) -> int | None: ...


def due_at(state: str, since: datetime, partnership: TimeLimits, ship_until: date | None) -> datetime | None:
    """Return the moment at which a fulfillment in this state becomes overdue, or None without a limit.

    The whole day `ship_until` of the order (UTC) is still in time.
    """
    limits = []
    hours = {
        NEW: partnership.hours_to_accept,
        NOT_ALLOWED: partnership.hours_to_accept,
        ACCEPTED: partnership.hours_to_ship,
        CANCELING: partnership.hours_to_answer,
    }.get(State(state))
    if hours is not None:
        limits.append(since + timedelta(hours=hours))
    if ship_until is not None and ship_until < date.max and state in WORKABLE:
        limits.append(datetime.combine(ship_until + timedelta(days=1), time(), UTC))
    return min(limits, default=None)


def capture_due_at(since: datetime, partnership: TimeLimits) -> datetime | None:
    """Return the moment at which a fulfillment without a capture becomes overdue, or None without a limit."""
    if partnership.hours_to_capture is None:
        return None
    return since + timedelta(hours=partnership.hours_to_capture)


def next_due_at(
    state: str, due_at: datetime | None, capture_due_at: datetime | None, *, captured: bool
) -> datetime | None:
    """Return `due_at`, or `capture_due_at` if a new fulfillment has no capture and this limit is earlier."""
    uncaptured = capture_due_at if state == NEW and not captured else None
    return min((limit for limit in (due_at, uncaptured) if limit is not None), default=None)
