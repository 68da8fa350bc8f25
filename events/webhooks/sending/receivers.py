"""The deliveries of a webhook in memory, and the limit of open requests to its receiver.

Each accepted delivery raises the limit by one. Each failure halves the limit, down to one. After many
failures in a row, a receiver gets one request at a time, at growing intervals. Therefore failing receivers
use few connections, and the deliveries of other webhooks do not wait for them.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from collections.abc import Container
from typing import NamedTuple

from events.webhooks.sending.http_client import ReceiverAnswer
from events.webhooks.targets import WebhookTarget

FIRST_OPEN, MOST_OPEN = 4, 20  # the first and the highest limit of open requests to one receiver
IN_MEMORY = 10  # deliveries in memory for each request that may be open
DOWN_AFTER = 20  # failures in a row after which a receiver is down
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0  # seconds between the requests to a receiver that is down

REMEMBER_SECONDS = 2 * LONGEST_PAUSE  # the state of an idle receiver is forgotten after this time


class Due(NamedTuple):
    """A delivery that is due."""

    id: int
    webhook_id: int
    event_id: int
    subject: str
    attempts: int
    replays: int
    expires_at: float
    before: int | None
    """The event of the previous waiting delivery of the same subject, at the time of reading."""


class Destination(NamedTuple):
    """The target of a webhook's deliveries, and the keys that sign them."""

    target: WebhookTarget
    keys: tuple[bytes, ...]


class Receiver:
    def __init__(self, webhook_id: int) -> None:
        self.webhook_id = webhook_id
        self.destination: Destination | None = None
        self.limit = FIRST_OPEN
        self.failures = 0
        self._resume_at = 0.0
        self._open: dict[int, Due] = {}
        self._ready: deque[Due] = deque()
        self._behind: defaultdict[str, deque[Due]] = defaultdict(deque)
        self._events: defaultdict[str, set[int]] = defaultdict(set)  # the ids of held events, by subject
        self.held: dict[int, bytes] = {}  # the body of each held delivery
        self._answered_at = time.monotonic()

    @property
    def open(self) -> int:
        """Return the number of open requests."""
        return len(self._open)

    def _forget_subject(self, subject: str) -> None:
        for due in self._behind.pop(subject, ()):
            self.held.pop(due.id, None)
        self._events.pop(subject, None)

    @property
    def is_down(self) -> bool:
        return self.failures >= DOWN_AFTER

    @property
    def room(self) -> int:
        """Return how many more deliveries to read into memory."""
        return max(0, self.limit * IN_MEMORY - len(self.held))

    @property
    def resumes_at(self) -> float:
        """Return when this receiver may get its next request.

        Return infinity while a request is open, and while no delivery is ready to be sent.
        """
        return math.inf if self.open or not self._ready else self._resume_at

    def hold(self, due: Due, body: bytes, taken: Container[int]) -> bool:
        """Hold a delivery until it is sent. Return False if an earlier delivery of its subject is missing.

        An earlier delivery is missing if it is neither accepted by the receiver nor held. Call this in the
        order of the events. `taken` are the events that the receiver accepted after the deliveries were read.
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
        """Return the next delivery to send now, or None while the receiver must not get a request."""
        if not self._ready or self.open >= self.limit or time.monotonic() < self._resume_at:
            return None
        due = self._ready.popleft()
        self._open[due.id] = due
        return due

    def answered(self, due: Due, answer: ReceiverAnswer) -> None:
        """Handle an answer.

        After a success, prepare the next delivery of the subject. After a failure, forget the deliveries of
        the subject.
        """
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
        """Return whether the receiver has no deliveries and was idle for REMEMBER_SECONDS."""
        return not self.held and time.monotonic() - self._answered_at > REMEMBER_SECONDS

    def forget(self) -> None:
        """Forget all deliveries without an open request, because another process sends them now."""
        self._ready.clear()
        self._behind.clear()
        self.held = {delivery_id: self.held[delivery_id] for delivery_id in self._open}
        self._events.clear()
        for due in self._open.values():
            self._events[due.subject].add(due.event_id)
