"""A gunicorn worker whose threads never wait for slow clients.

gunicorn's own threaded worker reads and answers in threads. A few clients that send half a request or do not
read their answer occupy all its threads. In this worker, the event loop reads all requests, gives complete
requests to threads, party by party in turns, and sends the rest of each answer.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from django.conf import settings
from gunicorn import util
from gunicorn.errors import ConfigError
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from gunicorn.workers.gthread import ThreadWorker

from api import caller
from api.sizes import most_bytes
from config.health.readiness import database
from config.web import answers
from config.web.arrival import HEAD_SECONDS, Arrival
from config.web.closing import RECEIVED_AT_ONCE, Closing
from config.web.connection import Connection
from config.web.greed import first_of_greediest
from config.web.outlet import Outlet, SlowReaders
from config.web.pace import KNOWN_UNTIL
from config.web.parties import Callers, Parties, is_stranger
from config.web.pausing import PAUSE_SECONDS, Pausing
from config.web.readiness import Readiness
from config.web.sending import Sending
from config.web.turns import Turns

MOST_BUFFERED = 256 * 1024 * 1024
"""The limit of bytes in waiting requests. Above it, the party with the most bytes loses a request."""
TICK = 0.25
LEAVING_SECONDS = 2.0
"""The time for which a stopping process waits for idle clients and for strangers."""


class Worker(ThreadWorker):
    """A web process with one event loop and several threads."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.turns: Turns[Connection] = Turns(
            self.cfg.threads, is_stranger=is_stranger, known_until=KNOWN_UNTIL
        )
        self.callers = Callers(
            behind_proxy=settings.BEHIND_PROXY, session_cookie=settings.SESSION_COOKIE_NAME
        )
        self.parties = Parties()
        self.slow_readers = SlowReaders(self.cfg.threads // 2)
        self.readiness = Readiness(defer=self.method_queue.defer, give=self._give_health, check=database)
        self.sending = Sending(watch=self._watch, unwatch=self._unwatch, sent=self._sent)
        self.arriving: dict[Connection, None] = {}
        self.pausing = Pausing(close=self._close)
        self.closing = Closing(watch=self._watch, unwatch=self._unwatch, close=self._close)
        self.buffered = 0
        self.next_tick = self.leaving_since = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Refuse a TLS certificate, because requests are read as plain bytes. Raises ConfigError."""
        if cfg.is_ssl:
            raise ConfigError("This server reads plain HTTP. Use a proxy for TLS.")

    def init_process(self) -> None:
        util.write_error = answers.write_error
        super().init_process()

    def run(self) -> None:
        try:
            super().run()
        finally:
            self.sending.cut_all()

    # --- Arriving requests ------------------------------------------------------------------------

    def accept(self, listener: socket.socket) -> None:
        """Accept a new client, and begin to read its request."""
        try:
            sock, address = listener.accept()
        except OSError:
            return
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._make_room()
        defer = self.method_queue.defer
        outlet = Outlet(sock, self.slow_readers, lambda: defer(self.sending.begin, connection))
        connection = Connection(self.cfg, outlet, address, listener.getsockname())
        connection.network = sock
        self._begin(connection)
        self._receive(connection)  # usually the request has arrived with the connection

    def _begin(self, connection: Connection, *, idle: float = HEAD_SECONDS) -> None:
        """Wait for the next request. Its first bytes may already be in `connection.rest`."""
        read_head = partial(self._parse, connection.client)
        connection.arrival = Arrival(time.monotonic(), read_head=read_head, most=most_bytes, idle=idle)
        connection.caller, connection.is_answered, connection.is_kept = None, False, False
        self.arriving[connection] = None
        self._watch(connection, self._receive, selectors.EVENT_READ)
        rest, connection.rest = connection.rest, b""
        if rest:
            self._feed(connection, rest)

    def _parse(self, client: object, head: bytes) -> Any:
        return Request(self.cfg, IterUnreader([head]), client)

    def _receive(self, connection: Connection) -> None:
        try:
            data = connection.network.recv(RECEIVED_AT_ONCE)
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
        self._hold(connection, arrival.held)
        if arrival.request is not None and connection.caller is None:
            connection.caller = self.callers.read(arrival.request, connection.peer)
            connection.party = self.parties.of(connection.caller)
            if self._is_refused(connection):
                return
        if arrival.complete:
            self._unwatch(connection)
            del self.arriving[connection]
            self._line_up(connection)
        elif arrival.wants_continue:
            arrival.wants_continue = False
            with suppress(OSError):
                connection.network.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._relieve()

    def _hold(self, connection: Connection, size: int) -> None:
        """Set the number of bytes that a request holds in memory."""
        self.buffered += size - connection.held
        connection.held = size

    def _forget(self, connection: Connection) -> None:
        """Stop reading a request that has not arrived completely, and send no answer."""
        self._unwatch(connection)
        del self.arriving[connection]
        self._hold(connection, 0)

    def _is_refused(self, connection: Connection) -> bool:
        """Return whether this network tried too many wrong keys. If so, refuse the request after a pause."""
        assert connection.caller is not None  # set when the head of the request was read
        if not (seconds := self.parties.refused_for(connection.caller, time.monotonic())):
            return False
        self._forget(connection)
        answer = answers.too_many_wrong_keys(connection.arrival.request, seconds - PAUSE_SECONDS)
        self.pausing.begin(connection, partial(self._give, connection, answer))
        return True

    def _line_up(self, connection: Connection) -> None:
        if answer := self._own_answer(connection):
            self._hold(connection, 0)
            self.pausing.answer_cheaply(connection, answer)
        else:
            self.turns.add(connection.party, connection, time.monotonic())
            self._give_turns()

    def _own_answer(self, connection: Connection) -> Callable[[], None] | None:
        """Return a function that answers without a thread, or None if this request needs a thread."""
        arrival, request = connection.arrival, connection.arrival.request
        if refusal := answers.too_long(arrival):
            return partial(self._give, connection, refusal)
        if arrival.fault is not None:
            return partial(self._refuse_malformed, connection, arrival.fault)
        path = request.method in ("GET", "HEAD") and request.uri.rstrip("/")
        if path == "/healthz":
            return partial(self._give_health, connection, answers.alive(request))
        return partial(self.readiness.ask, connection) if path == "/readyz" else None

    def _refuse_malformed(self, connection: Connection, fault: Exception) -> None:
        answers.begin(connection.arrival.request)  # for the log line and for the answer
        self.handle_error(connection.arrival.request, connection.sock, connection.client, fault)
        self.sending.answered(connection)

    def _give_turns(self) -> float:
        """Begin the allowed requests. Return the seconds until a stranger's request may begin, or 0."""
        now = time.monotonic()  # one time for both calls, so that no stranger's rest ends between them
        for _, connection in self.turns.take(now):
            request, connection.rest = connection.arrival.take()
            self._hold(connection, 0)
            connection.give(request)
            self.enqueue_req(connection)
        return self.turns.wait(now)

    def handle_request(self, req: answers.Head, conn: Connection) -> Any:
        """Answer a request that has arrived completely. A thread calls this."""
        answers.begin(req)
        caller.begin()
        began = time.thread_time()
        try:
            return super().handle_request(req, conn)
        finally:
            conn.computed = time.thread_time() - began
            assert conn.caller is not None  # set when the head of the request was read
            self.parties.note(conn.caller, caller.verdict(), time.monotonic())
            # gunicorn restarts a worker after `max_requests`, to bound leaks. Strangers must not cause this.
            self.nr -= is_stranger(conn.party)

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """Give the thread to the next request. The event loop calls this."""
        self.turns.done(conn.party, time.monotonic(), conn.computed)
        with suppress(Exception):
            conn.is_kept = bool(fs.result())
        self.sending.answered(conn)
        self._give_turns()

    # --- The end of a connection ------------------------------------------------------------------

    def _refuse(self, connection: Connection, status: int, message: str) -> None:
        self._give(connection, answers.refusal(status, message, connection.arrival.request))

    def _give(self, connection: Connection, answer: bytes) -> None:
        """Send an answer that needs no thread. The connection ends after it unless `is_kept` is set."""
        self._hold(connection, 0)
        with suppress(OSError):
            connection.sock.put(answer)
        self.sending.answered(connection)

    def _give_health(self, connection: Connection, answer: bytes) -> None:
        """Send the answer to a health check, and keep the connection if the client wants to keep it."""
        request, connection.rest = connection.arrival.take()
        connection.is_kept = self.alive and not request.should_close()
        self._give(connection, answer)

    def _sent(self, connection: Connection) -> None:
        """Read the client's next request, or close the connection."""
        if connection.is_kept and not connection.sock.is_cut:
            begin = partial(self._begin, connection, idle=float(self.cfg.keepalive))
            if connection.rest:  # defer: with many requests in one packet, direct calls would nest too deeply
                self.method_queue.defer(begin)
            else:
                begin()
        else:
            self.closing.begin(connection)

    def _close(self, connection: Connection) -> None:
        self.nr_conns -= 1
        connection.close()

    def _make_room(self) -> None:
        """Close one connection of the network with the most waiting connections."""
        waiting = [*self.closing, *self.pausing, *self.arriving, *self.sending]
        first = first_of_greediest(waiting, lambda each: each.stranger, lambda each: 1)
        if first is None:
            return
        if first in self.closing:
            self.closing.end(first)
        elif first in self.pausing:
            self.pausing.drop(first)
        elif first in self.arriving:
            self._drop(first)
        else:
            self.sending.cut(first)

    def _relieve(self) -> None:
        """Bound the memory: the party with the most bytes loses its oldest request."""
        while self.buffered > MOST_BUFFERED:
            queued = {connection: party for party, connection in self.turns.waiting()}
            waiting = [*self.arriving, *queued]
            first = first_of_greediest(waiting, lambda each: each.party, lambda each: each.held)
            if first is None:
                return
            if first in queued:
                self.turns.remove(queued[first], first)
                self._refuse(first, 503, answers.CROWDED)
            else:
                self._drop(first)

    def _drop(self, connection: Connection) -> None:
        """Refuse a request that is still arriving, and close the connection immediately."""
        self._forget(connection)
        with suppress(OSError):
            connection.network.send(answers.refusal(503, answers.CROWDED, connection.arrival.request))
        self._close(connection)

    # --- The loop ---------------------------------------------------------------------------------

    def murder_pending(self) -> None:
        """End overdue waits. gunicorn's loop calls this method often; the method acts every TICK seconds."""
        now = time.monotonic()
        if now < self.next_tick:
            return
        self.next_tick = now + TICK
        if not self.alive:
            self._leave(now)
        for connection in [each for each in self.arriving if each.arrival.deadline < now]:
            self._give_up(connection)
        for connection in self.turns.overdue(now):
            self._refuse(connection, 503, answers.BUSY)
        self.readiness.answer_overdue(now)
        self.pausing.end_overdue(now)
        if slow := self.sending.cut_overdue(now):
            self.log.info("Closed %s connections whose clients read their answers too slowly.", slow)
        self.closing.end_overdue(now)

    def _leave(self, now: float) -> None:
        """Close idle connections and connections of strangers after LEAVING_SECONDS.

        A new process replaces this process. Strangers are clients without an accepted credential.
        """
        self.leaving_since = self.leaving_since or now
        if now < self.leaving_since + LEAVING_SECONDS:
            return
        for connection in [each for each in self.arriving if not each.arrival.received or each.is_strange]:
            self._give_up(connection)
        for connection in [each for each in self.sending if each.is_strange]:
            self.sending.cut(connection)
        for connection in [each for each in self.closing if each.is_strange]:
            self.closing.end(connection)

    def _give_up(self, connection: Connection) -> None:
        """Stop waiting for a request. If some bytes of the request have arrived, answer 408."""
        self._forget(connection)
        if connection.arrival.received:
            self._refuse(connection, 408, "The request did not arrive in time. Send it again.")
        else:
            self._close(connection)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for events. With clients, wait at most a TICK, or until a stranger's request may begin."""
        pause = self._give_turns()
        super().wait_for_and_dispatch_events(min(timeout, TICK, pause or TICK) if self.nr_conns else timeout)

    def _watch(self, connection: Connection, react: Callable[[Connection], None], events: int) -> None:
        self.poller.register(connection.network, events, lambda socket: react(connection))

    def _unwatch(self, connection: Connection) -> None:
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(connection.network)
