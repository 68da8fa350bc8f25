"""The watched channel of an SFTP client, whose callback runs even while the host is silent."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from sftp_ingest.remote import connection
from sftp_ingest.remote.connection import WatchedChannel


class Unwanted(Exception):
    """The error that the callback raises when the fetch is canceled."""


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield our end and the host's end of a connection."""
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.01)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def never(_: int) -> None:
    raise Unwanted


def receive(channel: WatchedChannel) -> None:
    channel.recv(10)


def send_much(channel: WatchedChannel) -> None:
    while True:
        channel.send(bytes(1024**2))


@pytest.mark.parametrize("step", [receive, send_much])
def test_an_exception_of_the_callback_ends_the_session(ends, step: Callable[[WatchedChannel], None]):
    ours, theirs = ends
    channel = WatchedChannel(ours, never)

    with pytest.raises(Unwanted):
        step(channel)

    theirs.send(b"an answer after all")
    for later in (receive, send_much):
        with pytest.raises(Unwanted):
            later(channel)


@pytest.mark.parametrize("step", [receive, send_much])
def test_the_session_ends_if_the_host_neither_sends_nor_receives(ends, step, monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_TIMEOUT", 0.02)
    channel = WatchedChannel(ends[0], lambda number: None)

    with pytest.raises(TimeoutError):
        step(channel)


def test_the_callback_is_called_for_each_chunk(ends):
    ours, theirs = ends
    seen: list[int] = []
    channel = WatchedChannel(ours, seen.append)

    theirs.send(b"four")

    assert (channel.recv(10), seen) == (b"four", [4])
