"""Beat sends the ticks after its start, and after the machine's clock was changed. It stores nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from celery.beat import Scheduler

from config.shared_process import beat_service
from config.ticks import TICKS

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
EVERY = timedelta(seconds=TICKS["sweep-imports"][1])


@pytest.fixture
def clock():
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def sent(monkeypatch, tmp_path):
    """Return the names of the ticks that beat sends. It runs in an empty folder."""
    names: list[str] = []
    monkeypatch.setattr(Scheduler, "apply_entry", lambda self, entry, producer: names.append(entry.name))
    monkeypatch.setattr(Scheduler, "producer", None)
    monkeypatch.chdir(tmp_path)
    return names


def turn(scheduler) -> None:
    """Let beat send all due ticks."""
    for _ in range(2 * len(TICKS)):
        scheduler.tick()


def test_all_ticks_are_sent_after_a_start_without_a_file(sent, clock, tmp_path):
    scheduler = beat_service().scheduler
    turn(scheduler)

    assert sorted(sent) == sorted(TICKS)
    scheduler.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", [timedelta(days=-300), -EVERY / 2, timedelta(hours=1)])
def test_ticks_go_on_after_a_change_of_the_clock(sent, clock, step):
    scheduler = beat_service().scheduler
    turn(scheduler)
    clock.shift(step)
    turn(scheduler)
    sent.clear()

    for _ in range(3):
        clock.shift(EVERY)
        turn(scheduler)

    assert sent.count("sweep-imports") == 3
