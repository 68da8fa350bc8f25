"""A thread gives its answer to the event loop and is free. A client that reads too slowly is disconnected."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.web.outlet import LEAST_RATE, MOST_UNSENT, PATIENCE_SECONDS, CutOff, Outlet, SlowReaders

LARGE = b"x" * 8 * 1024 * 1024


class Pair:
    """An outlet and the socket of its client."""

    def __init__(self, readers: SlowReaders) -> None:
        ours, self.client = socket.socketpair()
        self.asked = threading.Event()
        self.outlet = Outlet(ours, readers, self.asked.set)

    def read(self, size: int) -> bytes:
        """Read this number of bytes as the client. Before each read, flush the outlet like the event loop."""
        got = b""
        end = time.monotonic() + 10
        while len(got) < size:
            assert time.monotonic() < end
            self.outlet.flush()
            if select.select([self.client], [], [], 0.01)[0]:
                got += self.client.recv(size - len(got))
        return got

    def close(self) -> None:
        self.outlet.sock.close()
        self.client.close()


@pytest.fixture
def readers() -> SlowReaders:
    return SlowReaders(1)


@pytest.fixture
def pair(readers) -> Iterator[Pair]:
    made = Pair(readers)
    yield made
    made.close()


def in_thread(outlet: Outlet, *parts: bytes) -> tuple[threading.Thread, list[Exception]]:
    """Send chunks from a new thread. Return the thread and the list of its errors."""
    errors: list[Exception] = []

    def send() -> None:
        try:
            for part in parts:
                outlet.sendall(part)
        except CutOff as error:
            errors.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    return thread, errors


def test_a_short_answer_needs_no_event_loop(pair):
    pair.outlet.sendall(b"hello")
    assert (pair.client.recv(10), pair.asked.is_set(), pair.outlet.unsent) == (b"hello", False, 0)


def test_an_answer_that_fits_into_the_buffer_blocks_no_thread(pair):
    size = MOST_UNSENT // 2
    pair.outlet.sendall(b"y" * size)
    assert pair.asked.is_set()
    assert pair.read(size) == b"y" * size
    assert pair.outlet.flush()


def test_a_stream_waits_for_its_reader_and_arrives_whole(pair):
    thread, errors = in_thread(pair.outlet, LARGE, LARGE, b"end")
    assert pair.read(len(LARGE)) == LARGE
    assert thread.is_alive()
    assert pair.read(len(LARGE) + 3) == LARGE + b"end"
    thread.join(10)
    assert errors == []


def test_a_file_is_sent_from_its_offset(pair, tmp_path):
    path = Path(tmp_path, "file")
    path.write_bytes(b"0123456789")
    with path.open("rb") as file:
        assert pair.outlet.sendfile(file, offset=2, count=5) == 5
        assert pair.outlet.sendfile(file, offset=8) == 2
    assert pair.client.recv(20) == b"2345689"


def test_the_time_limit_of_a_client_grows_with_the_bytes_that_it_reads(pair):
    pair.outlet.sendall(LARGE[: MOST_UNSENT // 2])
    begun = pair.outlet.since
    taken = MOST_UNSENT // 2 - pair.outlet.unsent
    limit = begun + PATIENCE_SECONDS + taken / LEAST_RATE
    assert not pair.outlet.is_overdue(limit - 0.01)
    assert pair.outlet.is_overdue(limit + 0.01)
    pair.read(MOST_UNSENT // 2)
    assert not pair.outlet.is_overdue(limit + 1000)


def test_a_client_that_is_cut_off_frees_its_thread(pair):
    thread, errors = in_thread(pair.outlet, LARGE, LARGE)
    pair.asked.wait(10)
    pair.outlet.cut()
    thread.join(10)
    assert (thread.is_alive(), len(errors), pair.outlet.unsent) == (False, 1, 0)
    with pytest.raises(CutOff):
        pair.outlet.put(b"more")
    with pytest.raises(CutOff):
        pair.outlet.flush()


def test_a_client_that_is_gone_frees_its_thread(pair):
    pair.client.close()
    pair.outlet.sendall(b"x")
    with pytest.raises(CutOff):
        pair.outlet.sendall(b"x")


def test_when_too_many_threads_wait_the_slowest_client_is_cut_off(pair, readers):
    slow, slow_errors = in_thread(pair.outlet, LARGE, LARGE)
    _wait_until(lambda: readers._waiting == [pair.outlet])
    other = Pair(readers)
    fast, fast_errors = in_thread(other.outlet, LARGE, b"end")
    slow.join(10)
    other.read(len(LARGE) + 3)
    fast.join(10)
    assert (len(slow_errors), fast_errors, readers._waiting) == (1, [], [])
    other.close()


def test_the_thread_never_reads_from_the_network(pair):
    pair.client.sendall(b"more of the body")
    assert pair.outlet.recv(100) == b""


def _wait_until(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)
