"""A limit for the computing time of strangers, which are clients without an accepted credential.

While parties with known keys are active, strangers get only a part of the computing time. After each request,
an address rests: its next request waits until the end of the rest.
"""

from __future__ import annotations

import mmap
from collections.abc import Hashable

REST = 3.0
"""An address rests REST times as long as its request computed, so the address gets a quarter of the time."""
REST_OF_ALL = 1.0
"""All strangers together rest REST_OF_ALL times as long as a request computed, so they get half of the time.

After a restart, all parties count as strangers, because every key is unknown at first.
"""
LONGEST_REST = 0.2
"""The longest rest in seconds, also after a long computation such as the check of a password."""
BESIDE_SECONDS = 1.0
"""Strangers need no rest if no known party has had a thread for this long."""
MOST_RESTING = 1_000
"""The number of remembered addresses above which addresses without a rest are forgotten."""
LEARNS = 0.2
"""The weight of the newest request in the average computing time."""

KNOWN_UNTIL = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("d")
"""Shared memory: its first number is the time until which known parties count as active.

All web processes share this memory, because gunicorn imports this module before it forks them. With separate
memory, a process without a known party would not limit strangers, and strangers could keep the machine busy.
"""


class StrangersPace:
    """The schedule of the requests of strangers: clients without an accepted credential.

    Threads share one interpreter lock. A request of a known party needs this lock after every answer of the
    database, and then waits for each thread that computes. Therefore a few threads that compute all the
    time slow down all requests. A limit on threads cannot prevent this, because two concurrent requests of
    strangers already have this effect.
    """

    def __init__(self, known_until: list[float] | memoryview[float]) -> None:
        self._average = 0.0
        self._next_of_all = 0.0
        self._next: dict[Hashable, float] = {}
        self._known_until = known_until

    def known(self, now: float) -> None:
        """Record that a party with a known key has a thread."""
        self._known_until[0] = now + BESIDE_SECONDS

    def wait(self, stranger: Hashable, now: float) -> float:
        """Return the seconds until a request of this stranger may begin, or 0."""
        if now >= self._known_until[0]:
            return 0.0
        return max(0.0, self._next_of_all - now, self._next.get(stranger, 0.0) - now)

    def began(self, stranger: Hashable, now: float) -> None:
        """Record that a request of this stranger begins.

        The computing time is known only at the end of the request. Until then, use the average of earlier
        requests.
        """
        if len(self._next) >= MOST_RESTING:
            self._next = {each: at for each, at in self._next.items() if at > now}
        self._next[stranger] = now + _rest(self._average, 1 + REST)
        self._next_of_all = now + _rest(self._average, 1 + REST_OF_ALL)

    def ended(self, stranger: Hashable, now: float, computed: float) -> None:
        """Record the computing time of a stranger's request, in seconds."""
        unforeseen = computed - self._average
        self._average += LEARNS * unforeseen
        self._next[stranger] = max(self._next.get(stranger, 0.0), now + _rest(unforeseen, REST))
        self._next_of_all = max(self._next_of_all, now + _rest(unforeseen, REST_OF_ALL))


def _rest(computed: float, times: float) -> float:
    return min(LONGEST_REST, computed * times)
