"""The pace of strangers: while parties with known keys are active, strangers get a share of the time."""

from __future__ import annotations

import mmap
from collections.abc import Hashable

REST = 3.0
"""Requests of one address rest this many times as long as they compute: they get a quarter of the time."""
REST_OF_ALL = 1.0
"""Requests of all strangers together get half of the time. After a restart, every key is unknown at first."""
LONGEST_REST = 0.2
"""The longest rest in seconds, also after a request that checked a password and so computed for long."""
BESIDE_SECONDS = 1.0
"""Strangers need no rest if no known party has had a thread for this long."""
MOST_RESTING = 1_000
"""The number of remembered addresses. Above it, addresses whose rest has ended are forgotten."""
LEARNS = 0.2
"""The weight of the newest request in the average."""

KNOWN_UNTIL = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("d")
"""Its first number is the time until which known parties count as active. All web processes share this
memory, because gunicorn imports this module before it forks them. Otherwise strangers would keep the other
processes busy, and with them the machine.
"""


class StrangersPace:
    """Tells when the next request of a stranger may begin.

    Threads share one interpreter lock. A request of a known party needs this lock after every answer of the
    database and then waits for each thread that computes. So a few threads that always compute slow down
    everyone. A limit on threads cannot prevent this: two cheap pages at a time are enough.
    """

    def __init__(self, known_until: list[float] | memoryview[float]) -> None:
        self._average = 0.0
        self._next_of_all = 0.0
        self._next: dict[Hashable, float] = {}
        self._known_until = known_until

    def known(self, now: float) -> None:
        """Note that a party with a known key has a thread."""
        self._known_until[0] = now + BESIDE_SECONDS

    def wait(self, stranger: Hashable, now: float) -> float:
        """Return the seconds until a request of this stranger may begin, or 0."""
        if now >= self._known_until[0]:
            return 0.0
        return max(0.0, self._next_of_all - now, self._next.get(stranger, 0.0) - now)

    def began(self, stranger: Hashable, now: float) -> None:
        """Note that a stranger's request begins. Assume the average cost until it has ended."""
        if len(self._next) >= MOST_RESTING:
            self._next = {each: at for each, at in self._next.items() if at > now}
        self._next[stranger] = now + _rest(self._average, 1 + REST)
        self._next_of_all = now + _rest(self._average, 1 + REST_OF_ALL)

    def ended(self, stranger: Hashable, now: float, computed: float) -> None:
        """Note how many seconds a stranger's request has computed."""
        unforeseen = computed - self._average
        self._average += LEARNS * unforeseen
        self._next[stranger] = max(self._next.get(stranger, 0.0), now + _rest(unforeseen, REST))
        self._next_of_all = max(self._next_of_all, now + _rest(unforeseen, REST_OF_ALL))


def _rest(computed: float, times: float) -> float:
    return min(LONGEST_REST, computed * times)
