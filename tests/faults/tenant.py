"""Another party's requests while a stranger keeps 64 connections busy, compared with a quiet service."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from tests.faults.web_server import Answer, WebServer
from tools.bench.hostile.crowd import crowd

STRANGER = "127.0.0.2"
TIMES, NOISE = 2.0, 0.05
"""The p95 may be this multiple of its quiet value. Other tests may run, which costs these seconds."""
SOON = 2.0
"""Seconds in which every request is answered; behind a stranger's requests it would wait for five."""
QUIET_SECONDS, ATTACKED_SECONDS = 0.5, 2.0
OPEN_PATHS = ("/v3/schema", "/healthz", "/readyz")


@dataclass
class Tenant:
    """A party with a known key."""

    web: WebServer
    path: str
    secret: str
    quiet: list[Answer] = field(default_factory=list)
    attacked: list[Answer] = field(default_factory=list)
    open: list[Answer] = field(default_factory=list)

    def ask(self, answers: list[Answer], seconds: float) -> None:
        """Send requests for some seconds, each after the answer to the last."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answers.append(self.web.ask("GET", self.path, secret=self.secret))

    def ask_beside(self, shape: str) -> None:
        """Send requests before, during and after the requests of a stranger, which have this shape."""
        self.ask([], QUIET_SECONDS)  # each process learns the key
        self.ask(self.quiet, QUIET_SECONDS)
        with crowd(self.web.port, shape, source=STRANGER):
            for _ in range(4):
                self.ask(self.attacked, ATTACKED_SECONDS / 4)
                self.open += [self.web.ask("GET", path) for path in OPEN_PATHS]
        self.ask(self.quiet, QUIET_SECONDS)

    def is_not_delayed(self) -> None:
        """Fail if the stranger delayed this party, or a client that needs no key."""
        assert {answer.status for answer in (*self.quiet, *self.attacked, *self.open)} == {200}
        assert max(answer.seconds for answer in (*self.attacked, *self.open)) < SOON
        assert p95(self.attacked) <= TIMES * p95(self.quiet) + NOISE


def p95(answers: list[Answer]) -> float:
    """Return the seconds within which 95 of 100 requests were answered."""
    ordered = sorted(answer.seconds for answer in answers)
    return ordered[math.ceil(len(ordered) * 0.95) - 1]
