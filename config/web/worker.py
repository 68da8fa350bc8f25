"""A gunicorn worker whose threads never wait for a client's request, nor for another party's rows.

gunicorn's own threaded worker gives each connection a thread, which reads the request: a few clients that
send half of one stop everybody. Here the loop reads all of them, hands complete requests to threads by
turns, answers /healthz itself, and waits for nobody who closes slowly.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from gunicorn import util
from gunicorn.errors import ConfigError
from gunicorn.workers.gthread import TConn, ThreadWorker

from api import request_id
from api.sizes import most_bytes
from config.web import answers
from config.web.arrival import HEAD_SECONDS, Arrival
from config.web.turns import Turns

RECEIVED_AT_ONCE = 256 * 1024
MOST_BUFFERED = 256 * 1024 * 1024
"""Bytes of requests that are still coming in or wait for a thread; who came first gives way."""
SEND_SECONDS = 60.0
LINGER_SECONDS, LINGER_BYTES = 5.0, 64 * 1024 * 1024
TICK = 0.25
LEAVING_SECONDS = 2.0
"""How long a stopping process waits for a request that a client may be about to send."""

Watch = Callable[["Connection"], None]


class Connection(TConn):
    """A client, and the request of its that is coming in."""

    arrival: Arrival
    party: Hashable = b""
    credential: Hashable = b""
    began = 0.0
    close_at = 0.0
    drained = 0


class Worker(ThreadWorker):
    """One web process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.turns: Turns[Connection] = Turns(self.cfg.threads)
        self.arriving: dict[Connection, None] = {}
        self.closing: dict[Connection, None] = {}
        self.buffered = 0
        self.next_tick = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Refuse to be given a certificate: what comes in is read as it comes. Raises ConfigError."""
        if cfg.is_ssl:
            raise ConfigError("TLS is a proxy's work: this server reads plain HTTP.")

    def init_process(self) -> None:
        util.write_error = answers.write_error
        super().init_process()

    # --- Coming in --------------------------------------------------------------------------------

    def accept(self, listener: socket.socket) -> None:
        """Begin to read a new client's request."""
        try:
            sock, address = listener.accept()
        except OSError:
            return
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._drop_first()
        connection = Connection(self.cfg, sock, address, listener.getsockname())
        self._begin(connection)
        self._receive(connection)  # it is often there already

    def _begin(self, connection: Connection, *, idle: float = HEAD_SECONDS, read: bytes = b"") -> None:
        connection.arrival = Arrival(time.monotonic(), most=most_bytes, idle=idle)
        connection.sock.setblocking(False)
        self.arriving[connection] = None
        self._watch(connection, self._receive)
        if read:
            self._feed(connection, read)

    def _receive(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(RECEIVED_AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._feed(connection, data)
        else:
            self._forget(connection)
            self._close(connection)

    def _feed(self, connection: Connection, data: bytes) -> None:
        arrival = connection.arrival
        arrival.feed(data, time.monotonic())
        self.buffered += len(data)
        if arrival.complete:
            self._unwatch(connection)
            del self.arriving[connection]
            self._line_up(connection)
        elif arrival.wants_continue:
            arrival.wants_continue = False
            answers.send(connection.sock, b"HTTP/1.1 100 Continue\r\n\r\n")
        while self.buffered > MOST_BUFFERED and self.arriving:
            self._drop_first()

    def _forget(self, connection: Connection) -> None:
        """Stop to wait for a request."""
        self._unwatch(connection)
        del self.arriving[connection]
        self.buffered -= len(connection.arrival.data)

    def _drop_first(self) -> None:
        """Who has been sending longest gives way to those who come."""
        first = next(iter(self.arriving), None)
        if first is not None:
            self._forget(first)
            answers.send(first.sock, answers.refusal(503, "There are too many requests at once."))
            self._close(first)

    # --- Turns ------------------------------------------------------------------------------------

    def _line_up(self, connection: Connection) -> None:
        arrival = connection.arrival
        answer = b""
        if arrival.health:
            answer = answers.alive(arrival.health)
        elif arrival.head_too_long:
            answer = answers.refusal(431, "The headers of this request are too long.")
        elif arrival.too_long:
            answer = answers.refusal(413, "The body is longer than any that is read here.")
        if answer:
            self.buffered -= len(arrival.data)
            self._answer(connection, answer)
        else:
            connection.credential = hash(arrival.authorization)
            connection.party = self.turns.party_of(connection.credential)
            self.turns.add(connection.party, connection, time.monotonic())
            self._give_turns()

    def _give_turns(self) -> None:
        for _, connection in self.turns.take():
            data = bytes(connection.arrival.data)
            self.buffered -= len(data)
            connection.arrival.data.clear()
            connection.data_ready, connection.began = True, time.monotonic()
            connection.init()
            connection.parser.unreader.unread(data)
            self.enqueue_req(connection)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        """In a thread: answer a request that is there as a whole, but for what is too long anyway."""
        conn.sock.settimeout(SEND_SECONDS)
        try:
            return super().handle_request(req, conn)
        finally:
            party = request_id.current_party()
            if party:
                self.turns.learn(conn.credential, party)

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """In the loop again: read the client's next request, or let it go."""
        self.turns.done(conn.party, time.monotonic(), since=conn.began)
        kept = False
        with suppress(Exception):
            kept = bool(fs.result())
        if kept:
            self._begin(conn, idle=float(self.cfg.keepalive), read=conn.parser.unreader.take_buffered())
        else:
            self._let_go(conn)
        self._give_turns()

    # --- Going ------------------------------------------------------------------------------------

    def _refuse(self, connection: Connection, status: int, message: str) -> None:
        self._answer(connection, answers.refusal(status, message))

    def _answer(self, connection: Connection, answer: bytes) -> None:
        answers.send(connection.sock, answer)
        self._let_go(connection)

    def _let_go(self, connection: Connection) -> None:
        """Close once the client has read its answer: closing over unread bytes would take it away."""
        try:
            connection.sock.setblocking(False)
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(connection)
            return
        connection.close_at = time.monotonic() + LINGER_SECONDS
        self.closing[connection] = None
        self._watch(connection, self._drain)
        self._drain(connection)

    def _drain(self, connection: Connection) -> None:
        try:
            gone = len(connection.sock.recv(RECEIVED_AT_ONCE))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            gone = 0
        connection.drained += gone
        if not gone or connection.drained > LINGER_BYTES:
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        self._unwatch(connection)
        del self.closing[connection]
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.nr_conns -= 1
        connection.close()

    # --- The loop ---------------------------------------------------------------------------------

    def murder_pending(self) -> None:
        """Each time that the loop comes by: whose time is over?"""
        now = time.monotonic()
        if now < self.next_tick:
            return
        self.next_tick = now + TICK
        for connection in [each for each in self.arriving if self._is_overdue(each.arrival, now)]:
            self._forget(connection)
            if connection.arrival.data:
                self._refuse(connection, 408, "The request did not come in in time.")
            else:
                self._close(connection)
        for connection in self.turns.overdue(now):
            self.buffered -= len(connection.arrival.data)
            message = "Earlier requests of yours are still being worked on. Try again in a few seconds."
            self._refuse(connection, 503, message)
        for connection in [each for each in self.closing if each.close_at < now]:
            self._end(connection)

    def _is_overdue(self, arrival: Arrival, now: float) -> bool:
        leaving = not self.alive and not arrival.data and arrival.since + LEAVING_SECONDS < now
        return leaving or arrival.deadline < now

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Come by often enough to see whose time is over."""
        super().wait_for_and_dispatch_events(min(timeout, TICK) if self.nr_conns else timeout)

    def _watch(self, connection: Connection, react: Watch) -> None:
        self.poller.register(
            connection.sock, selectors.EVENT_READ, partial(_ignore_socket, react, connection)
        )

    def _unwatch(self, connection: Connection) -> None:
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(connection.sock)


def _ignore_socket(react: Watch, connection: Connection, sock: socket.socket) -> None:
    """gunicorn's loop names the socket that has something; we know whose it is."""
    del sock
    react(connection)
