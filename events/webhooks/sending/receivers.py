"""What this process has of a webhook in memory, and when its receiver may be asked for more.

A receiver that answers well may have many requests open, one that fails or hangs ever fewer, down to one. One
that takes nothing at all is asked with one request at a time, at growing intervals. So whatever many of them
do, they keep few connections, and nobody else waits.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Container
from typing import NamedTuple

from events.webhooks.sending.http_client import Answer
from events.webhooks.targets import Target

FIRST_OPEN, MOST_OPEN = 4, 20  # requests to one receiver at once
IN_MEMORY = 10  # deliveries, for each request that may be open
DOWN_AFTER = 20  # failures in a row, until it is asked with one request at a time
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0  # seconds between these

REMEMBER_SECONDS = 2 * LONGEST_PAUSE  # how a receiver answered


class Due(NamedTuple):
    """A delivery whose time has come."""

    id: int
    webhook_id: int
    event_id: int
    subject: str
    attempts: int
    replays: int
    expires_at: float
    before: int | None
    """The event of its subject that waited right before it, when this was read."""


class Way(NamedTuple):
    """Where deliveries of a webhook go, and what signs them."""

    target: Target
    keys: tuple[bytes, ...]


class Receiver:
    """One webhook's receiver."""

    def __init__(self, webhook_id: int) -> None:
        self.webhook_id = webhook_id
        self.way: Way | None = None
        self.limit = FIRST_OPEN
        self.failures = 0
        self._resume_at = 0.0
        self._open: dict[int, Due] = {}
        self._ready: deque[Due] = deque()
        self._behind: defaultdict[str, deque[Due]] = defaultdict(deque)
        self._events: defaultdict[str, set[int]] = defaultdict(set)  # by subject: what is held of it
        self.held: dict[int, bytes] = {}  # what is to be sent of each delivery
        self._answered_at = time.monotonic()

    @property
    def open(self) -> int:
        """How many requests are open."""
        return len(self._open)

    def _forget_subject(self, subject: str) -> None:
        for each in self._behind.pop(subject, ()):
            self.held.pop(each.id, None)
        self._events.pop(subject, None)

    @property
    def is_down(self) -> bool:
        return self.failures >= DOWN_AFTER

    @property
    def room(self) -> int:
        """How many more deliveries it is worth reading."""
        return max(0, self.limit * IN_MEMORY - len(self.held))

    def hold(self, due: Due, body: bytes, taken: Container[int]) -> bool:
        """Keep a delivery until it is sent; False where an earlier one of its subject is not due yet.

        They come in the order of their events. `taken` are events that have arrived since these were read.
        """
        if due.id in self.held:
            return True
        if due.subject:
            events = self._events[due.subject]
            if due.before is not None and due.before not in taken and due.before not in events:
                return False
            (self._behind[due.subject] if events else self._ready).append(due)
            events.add(due.event_id)
        else:
            self._ready.append(due)
        self.held[due.id] = body
        return True

    def take(self) -> Due | None:
        """The next delivery to be sent now, if there is one and the receiver may be asked."""
        if not self._ready or self.open >= self.limit or time.monotonic() < self._resume_at:
            return None
        due = self._ready.popleft()
        self._open[due.id] = due
        return due

    def answered(self, due: Due, answer: Answer) -> None:
        """How it went: what is behind it is next, or forgotten until it is due itself."""
        del self._open[due.id]
        self.held.pop(due.id, None)
        self._answered_at = time.monotonic()
        behind = self._behind.get(due.subject)
        if answer.taken:
            self.failures = 0
            self.limit = min(MOST_OPEN, self.limit + 1)
            if behind:
                self._ready.appendleft(behind.popleft())
                self._events[due.subject].discard(due.event_id)
            else:
                self._forget_subject(due.subject)
            return
        self.failures += 1
        self.limit = max(1, self.limit // 2)
        self._forget_subject(due.subject)
        if self.is_down:
            pause = FIRST_PAUSE * 2 ** min(self.failures - DOWN_AFTER, 10)
            self._resume_at = time.monotonic() + min(pause, LONGEST_PAUSE)

    def is_idle(self) -> bool:
        """Whether nothing of it needs to be known any more."""
        return not self.held and time.monotonic() - self._answered_at > REMEMBER_SECONDS

    def forget(self) -> None:
        """Let go of all that is not open: it is not this process's to send any more."""
        self._ready.clear()
        self._behind.clear()
        self.held = {each: self.held[each] for each in self._open}
        self._events.clear()
        for each in self._open.values():
            self._events[each.subject].add(each.event_id)
