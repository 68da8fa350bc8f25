"""Many connections of one stranger, in their own process."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Event

from tests.faults.stranger_shapes import SHAPES, HostileRequest

CONNECTIONS = 64
LITTLE = 4096
"""The receive buffer of a client that reads nothing."""
LOOK_SECONDS = 0.2

_numbers = count(1)


@contextmanager
def crowd(port: int, name: str, *, connections: int = CONNECTIONS, source: str = "") -> Iterator[None]:
    """Keep many connections busy with requests of the shape `name`. `source` is the stranger's address."""
    context = get_context("spawn")
    begun, over = context.Event(), context.Event()
    process = context.Process(target=_main, args=[port, name, connections, source, begun, over], daemon=True)
    process.start()
    try:
        if not begun.wait(60):
            raise RuntimeError("the stranger's connections did not open within 60 s")
        yield
    finally:
        over.set()
        process.join(10)
        process.kill()


def _main(port: int, name: str, connections: int, source: str, begun: Event, over: Event) -> None:
    os.nice(19)  # a stranger has a machine of its own, and takes no processor time from the server
    stop = threading.Event()
    first = threading.Barrier(connections + 1)
    arguments = (port, SHAPES[name], source, first, stop)
    threads = [
        threading.Thread(target=_one_after_the_other, args=arguments, daemon=True) for _ in range(connections)
    ]
    for thread in threads:
        thread.start()
    first.wait()
    begun.set()
    over.wait()
    stop.set()
    for thread in threads:
        thread.join(5)


def _one_after_the_other(
    port: int, shape: HostileRequest, source: str, first: threading.Barrier, stop: threading.Event
) -> None:
    is_first = True
    while not stop.is_set():
        with socket.socket() as sock, suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536 if shape.reads else LITTLE)
            if source:
                sock.bind((source, 0))
            sock.settimeout(30)
            sock.connect(("127.0.0.1", port))
            sock.sendall(shape.numbered(next(_numbers)))
            if is_first:
                is_first = False
                first.wait()
            _take(sock, shape, stop)
    if is_first:
        first.abort()


def _take(sock: socket.socket, shape: HostileRequest, stop: threading.Event) -> None:
    """Keep the connection until the server ends it. If the shape reads, send a request after each answer."""
    poller = select.poll()
    poller.register(sock, (select.POLLIN if shape.reads else 0) | select.POLLRDHUP)
    while not stop.is_set():
        events = poller.poll(LOOK_SECONDS * 1000)
        if events and events[0][1] & ~select.POLLIN:
            return
        if events and not sock.recv(65_536):
            return
        if events:
            sock.sendall(shape.numbered(next(_numbers)))
