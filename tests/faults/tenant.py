"""A party whose requests are timed during a stranger's attack, and without it for comparison."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import chain

from tests.faults.stranger_crowd import crowd
from tests.faults.web_server import Answer, WebServer

STRANGER = "127.0.0.2"
TIMES, NOISE = 2.0, 0.05
"""The p95 under attack may be TIMES the quiet p95, plus NOISE seconds, because other tests may run."""
SOON = 2.0
"""The longest time of a request, in seconds. A request that waits for a stranger takes at least five."""
WINDOW_SECONDS, GOOD_WINDOWS, MOST_WINDOWS = 0.5, 4, 24
OPEN_PATHS = ("/v3/schema", "/healthz", "/readyz")


@dataclass
class Tenant:
    """A party with a known key. Its requests are timed in windows.

    A stranger that delays other parties delays them in every window. A test that runs at the same time
    delays them only in some windows. The attack therefore continues until GOOD_WINDOWS windows are good, or
    until there are MOST_WINDOWS windows.
    """

    web: WebServer
    path: str
    secret: str
    quiet: list[list[Answer]] = field(default_factory=list)
    attacked: list[list[Answer]] = field(default_factory=list)
    open: list[list[Answer]] = field(default_factory=list)

    def ask_beside(self, shape: str) -> None:
        """Send requests before and during a stranger's attack. `shape` names the stranger's requests."""
        self._window()  # each process of the server reads the key once
        self.quiet += [self._window(), self._window()]
        with crowd(self.web.port, shape, source=STRANGER):
            while self._good_windows() < GOOD_WINDOWS and len(self.attacked) < MOST_WINDOWS:
                self.attacked.append(self._window())
                self.open.append([self.web.ask("GET", path) for path in OPEN_PATHS])

    def is_not_delayed(self) -> None:
        """Fail if the stranger delayed this party, or a client that needs no key."""
        answers = chain(*self.quiet, *self.attacked, *self.open)
        assert {answer.status for answer in answers} == {200}
        assert self._good_windows() >= GOOD_WINDOWS, (min(map(p95, self.quiet)), [*map(p95, self.attacked)])

    def _window(self) -> list[Answer]:
        """Send requests for some time, one after another, and return the answers."""
        end = time.monotonic() + WINDOW_SECONDS
        answers = []
        while time.monotonic() < end:
            answers.append(self.web.ask("GET", self.path, secret=self.secret))
        return answers

    def _good_windows(self) -> int:
        """Return the number of windows whose p95 and longest request are within the limits."""
        limit = TIMES * min(map(p95, self.quiet)) + NOISE
        pairs = zip(self.attacked, self.open, strict=True)
        return sum(p95(own) <= limit and longest([*own, *open_]) < SOON for own, open_ in pairs)


def longest(answers: list[Answer]) -> float:
    return max(answer.seconds for answer in answers)


def p95(answers: list[Answer]) -> float:
    """Return the seconds within which 95 of 100 requests were answered."""
    ordered = sorted(answer.seconds for answer in answers)
    return ordered[math.ceil(len(ordered) * 0.95) - 1]
