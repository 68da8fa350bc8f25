"""The event loop of a web process begins a stranger's request as soon as the stranger's delay has ended."""

from __future__ import annotations

import selectors
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config

from config.web import worker as module
from config.web.parties import Stranger, is_stranger
from config.web.turns import Turns

STRANGER = Stranger("192.0.2.1")


class Clock:
    """A clock that advances by a step, in seconds, at each reading."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def web() -> Iterator[Any]:
    """Return a worker that delays strangers, because a known party is always active.

    `begun` lists the requests that the worker has begun.
    """
    worker: Any = module.Worker(1, 1, [], None, 30, Config(), None)
    worker.poller, worker.nr_conns, worker.begun = selectors.DefaultSelector(), 1, []
    worker.turns = Turns(4, is_stranger=is_stranger, known_until=[1e9])
    worker.enqueue_req = worker.begun.append
    yield worker
    worker.poller.close()
    worker.tmp.close()  # left open, it could fail a later test


def test_a_rest_that_ends_while_the_loop_reads_its_clock_delays_no_request(
    web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = SimpleNamespace(take=lambda: ("request", b""))
    client: Any = SimpleNamespace(arrival=arrival, held=0, party=STRANGER, give=lambda request: None)
    web.turns.add(STRANGER, client, 0.0)
    web.turns._pace.ended(STRANGER, now=0.0, computed=0.005)  # the delay ends at 0.015

    monkeypatch.setattr(module, "time", Clock(0.010))
    web._give_turns()
    assert not web.begun
    for _ in range(2):
        web.wait_for_and_dispatch_events(0.0)
    assert web.begun == [client]
