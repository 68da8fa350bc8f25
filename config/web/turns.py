"""Shares of the threads. Each party has a queue, and requests in a queue wait without a thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from config.web.pace import StrangersPace

T = TypeVar("T")

LONGEST_WAIT = 5.0
"""Seconds after which a request that has not begun is refused."""


class Turns(Generic[T]):
    """A queue of requests for each party, and the rule for the next request that gets a thread.

    A party must leave as many threads free as it holds. A single active party gets half of the threads, two
    parties get a third each, and so on. Therefore another party always finds a free thread.

    Strangers (clients without an accepted credential) of one address may hold a quarter of the threads, and
    all strangers together half of them. `config.web.pace` limits them further while known parties are active.
    """

    def __init__(
        self,
        threads: int,
        *,
        is_stranger: Callable[[Hashable], bool] = lambda party: False,
        known_until: list[float] | memoryview[float] | None = None,
    ) -> None:
        self.free = threads
        self._is_stranger = is_stranger
        self._most_strangers = max(1, threads // 2)
        self._most_of_address = max(1, threads // 4)
        self._strangers = 0
        self._pace = StrangersPace([0.0] if known_until is None else known_until)
        self._busy: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[tuple[float, T]]] = {}

    def add(self, party: Hashable, item: T, now: float) -> None:
        """Put a request at the end of its party's queue."""
        self._waiting.setdefault(party, deque()).append((now, item))

    def take(self, now: float) -> Iterator[tuple[Hashable, T]]:
        """Yield the requests that may begin, party by party. Each request has a thread until `done`."""
        passed = 0
        while self.free and passed < len(self._waiting):
            party = next(iter(self._waiting))
            queue = self._waiting.pop(party)
            if not self._may_begin(party, now):
                self._waiting[party] = queue
                passed += 1
                continue
            _, item = queue.popleft()
            if queue:
                self._waiting[party] = queue
            self._busy[party] = self._busy.get(party, 0) + 1
            self._count(party, now)
            self.free -= 1
            passed = 0
            yield party, item

    def _count(self, party: Hashable, now: float) -> None:
        if self._is_stranger(party):
            self._strangers += 1
            self._pace.began(party, now)
        else:
            self._pace.known(now)

    def done(self, party: Hashable, now: float, computed: float = 0.0) -> None:
        """Take back the thread of a request, which has used `computed` seconds of computing time."""
        self.free += 1
        if self._is_stranger(party):
            self._strangers -= 1
            self._pace.ended(party, now, computed)
        else:
            self._pace.known(now)
        self._busy[party] -= 1
        if not self._busy[party]:
            del self._busy[party]

    def wait(self, now: float) -> float:
        """Return the seconds until a queued request without an accepted credential may begin, or 0."""
        waits = (self._pace.wait(party, now) for party in self._waiting if self._is_stranger(party))
        return min(waits, default=0.0)

    def overdue(self, now: float) -> list[T]:
        """Remove and return the requests that have waited too long."""
        late = []
        for party, queue in list(self._waiting.items()):
            while queue and now - queue[0][0] > LONGEST_WAIT:
                late.append(queue.popleft()[1])
            if not queue:
                del self._waiting[party]
        return late

    def waiting(self) -> Iterator[tuple[Hashable, T]]:
        """Yield each request that waits, with its party."""
        for party, queue in self._waiting.items():
            for _, item in queue:
                yield party, item

    def remove(self, party: Hashable, item: T) -> None:
        """Take one request out of its queue."""
        left = deque(entry for entry in self._waiting.pop(party) if entry[1] != item)
        if left:
            self._waiting[party] = left

    def _may_begin(self, party: Hashable, now: float) -> bool:
        busy = self._busy.get(party, 0)
        if self._is_stranger(party):
            is_few = busy < self._most_of_address and self._strangers < self._most_strangers
            return is_few and not self._pace.wait(party, now)
        return busy < self.free
