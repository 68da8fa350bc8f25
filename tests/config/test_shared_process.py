"""Several parts run in one process: each gives its own signs of life, and all of them end together."""

import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from config import shared_process
from config.shared_process import Part


class Endless:
    """A part that runs until it is stopped."""

    def __init__(self, when_begun: Callable[[], None] = lambda: None) -> None:
        self._stopped = threading.Event()
        self._when_begun = when_begun
        self.ended = False

    def part(self) -> Part:
        return Part(self._run, self._stopped.set)

    def _run(self) -> None:
        self._when_begun()
        self._stopped.wait()
        self.ended = True


@pytest.fixture(autouse=True)
def _own_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_part_that_ends_by_itself_ends_the_others():
    other = Endless()
    parts = {"one": Part(lambda: None, lambda: None), "other": other.part()}
    assert shared_process.run(parts) == 1
    assert other.ended


def test_a_part_that_fails_ends_the_others(caplog):
    other = Endless()
    parts = {"one": Part(lambda: 1 / 0, lambda: None), "other": other.part()}
    assert shared_process.run(parts) == 1
    assert other.ended
    assert "one failed" in caplog.text


def test_a_signal_stops_all_parts_in_order():
    parts = [Endless(lambda: os.kill(os.getpid(), signal.SIGTERM)), Endless()]
    assert shared_process.run({str(number): each.part() for number, each in enumerate(parts)}) == 0
    assert all(each.ended for each in parts)


@pytest.mark.parametrize("names", [[], ["beat", "web"]])
def test_an_unknown_part_is_refused_with_the_known_names(names):
    with pytest.raises(SystemExit, match="beat, ticker, fetcher, webhooks, sftp"):
        shared_process.main(names)
