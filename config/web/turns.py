"""Who gets a thread: each party has a share, and what it cannot have at once waits without holding one."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

# Seconds that a request waits for a turn while nothing of its party gets done, and while something does.
STUCK_SECONDS = 5.0
LONGEST_WAIT = 30.0
MOST_KNOWN = 10_000


class Turns(Generic[T]):
    """A queue for each party. A party may hold as many threads as it leaves free: half of them when it is
    alone, a third when another one is as greedy; so however many are stuck, the next one finds a thread.
    """

    def __init__(self, threads: int) -> None:
        self.free = threads
        self._busy: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[tuple[float, T]]] = {}
        self._done_at: dict[Hashable, float] = {}
        self._parties: dict[Hashable, str] = {}

    def learn(self, credential: Hashable, party: str) -> None:
        """Note whose credential that is: from now on all of a party's keys share one share."""
        if len(self._parties) >= MOST_KNOWN:
            self._parties.clear()
        self._parties[credential] = party

    def party_of(self, credential: Hashable) -> Hashable:
        """The party behind a credential; one that was not seen yet stands for itself."""
        return self._parties.get(credential, credential)

    def add(self, party: Hashable, item: T, now: float) -> None:
        """Put it at the end of its party's queue."""
        self._waiting.setdefault(party, deque()).append((now, item))

    def take(self) -> Iterator[tuple[Hashable, T]]:
        """Those whose turn it is, one of each party after the other; each has a thread until `done`."""
        passed = 0
        while self.free and passed < len(self._waiting):
            party = next(iter(self._waiting))
            queue = self._waiting.pop(party)
            if self._busy.get(party, 0) >= self.free:
                self._waiting[party] = queue
                passed += 1
                continue
            _, item = queue.popleft()
            if queue:
                self._waiting[party] = queue
            self._busy[party] = self._busy.get(party, 0) + 1
            self.free -= 1
            passed = 0
            yield party, item

    def done(self, party: Hashable, now: float, *, since: float) -> None:
        """Give a thread back, that was held since then; who had it for long has kept the others waiting."""
        self.free += 1
        left = self._busy[party] - 1
        if left or party in self._waiting:
            self._busy[party] = left
            if now - since < STUCK_SECONDS:
                self._done_at[party] = now
        else:
            del self._busy[party]
            self._done_at.pop(party, None)

    def overdue(self, now: float) -> list[T]:
        """Take out those who have waited too long."""
        late = []
        for party, queue in list(self._waiting.items()):
            done_at = self._done_at.get(party, 0.0)
            while queue and self._is_late(queue[0][0], done_at, now):
                late.append(queue.popleft()[1])
            if not queue:
                del self._waiting[party]
                if not self._busy.get(party):
                    self._busy.pop(party, None)
        return late

    @staticmethod
    def _is_late(since: float, done_at: float, now: float) -> bool:
        return now - max(since, done_at) > STUCK_SECONDS or now - since > LONGEST_WAIT
