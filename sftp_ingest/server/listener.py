"""The SFTP server, which accepts and counts connections and closes silent connections."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from contextlib import suppress
from secrets import SystemRandom

from api.main_loop import MainLoop
from sftp_ingest.bounded_attributes import bound_attributes
from sftp_ingest.database import close_idle
from sftp_ingest.server.addresses import plain_address, source_of
from sftp_ingest.server.algorithms import CIPHERS, MACS, ServerTransport
from sftp_ingest.server.host_key import host_keys
from sftp_ingest.server.session import Session, SessionLimits
from sftp_ingest.server.speed import BufferedSocket, use_fast_checksums
from sftp_ingest.server.subsystem import Subsystem

logger = logging.getLogger(__name__)

CHECK_INTERVAL = 1.0  # seconds between two checks for silent sessions
WAKE_INTERVAL = 5.0  # seconds between two wakes of paramiko's thread for a session
STOP_TIMEOUT = 5.0  # seconds to wait for the end of a session


class SftpServer:
    """An SFTP server. It listens from its creation, and `serve` handles clients until `stop` is called."""

    def __init__(self, host: str, port: int, limits: SessionLimits | None = None) -> None:
        """Listen on this address. Raises OSError if the address is in use."""
        self.limits = limits or SessionLimits()
        self.sessions: list[Session] = []
        self._keys = host_keys()
        self.main_loop = MainLoop()
        self._stopping = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self._listener.setblocking(False)
        use_fast_checksums()
        bound_attributes()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def stop(self) -> None:
        """Make `serve` return. Signal handlers and other threads may call this."""
        self._stopping.set()
        with suppress(OSError):
            self._wake.send(b"!")

    def serve(self) -> None:
        """Accept clients until `stop`, then end their sessions and cut their uploads."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            try:
                while not self._stopping.is_set():
                    selector.select(CHECK_INTERVAL)
                    self.main_loop.turned()
                    self._accept()
                    self._close_overdue()
                    close_idle()
            finally:
                self._end()

    def _accept(self) -> None:
        """Accept the waiting clients. If file descriptors or threads are exhausted, log this."""
        with suppress(BlockingIOError):
            while not self._stopping.is_set():
                try:
                    client, (address, *_) = self._listener.accept()
                    self._receive(client, plain_address(address))
                except BlockingIOError:
                    raise
                except (OSError, RuntimeError):
                    logger.exception("an SFTP client could not be accepted")
                    self._stopping.wait(0.1)

    def _receive(self, client: socket.socket, address: str) -> None:
        try:
            if self._has_room(address):
                self._begin(client, address)
                return
            logger.warning("SFTP connection from %s refused: too many connections", address)
        except BaseException:
            client.close()
            raise
        client.close()

    def _has_room(self, address: str) -> bool:
        """Tell whether to accept a client. Many connections from one address must leave room for others.

        A session with a channel does not count for its address, because the limit of its login applies. Many
        suppliers may share one address behind a router or a load balancer.
        """
        source = source_of(address)
        same_source = [session for session in self.sessions if source_of(session.address) == source]
        logging_in = sum(session.logging_in for session in self.sessions)
        half = self.limits.unauthenticated / 2
        # Above half of the limit, a growing share of clients is refused at random. So other clients have a
        # chance while one client opens very many connections.
        dropped = SystemRandom().random() < (logging_in - half) / half
        return (
            not dropped
            and sum(session.logging_in for session in same_source) < self.limits.unauthenticated_per_address
            and sum(not session.has_channel for session in same_source)
            < self.limits.without_channel_per_address
            and len(self.sessions) < self.limits.connections
        )

    def _begin(self, client: socket.socket, address: str) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = ServerTransport(BufferedSocket(client))
        transport.local_version = "SSH-2.0-Exchange"
        # Many concurrent handshakes are slow. The session's own limit applies instead of paramiko's shorter
        # limits.
        transport.banner_timeout = transport.handshake_timeout = self.limits.authenticate_within
        for key in self._keys:
            transport.add_server_key(key)
        transport.set_subsystem_handler("sftp", Subsystem)
        client.settimeout(WAKE_INTERVAL)  # otherwise paramiko wakes up ten times a second
        options = transport.get_security_options()
        options.ciphers, options.digests = CIPHERS, MACS
        session = Session(transport, address, self.limits, self._stopping, self.sessions)
        self.sessions.append(session)
        transport.start_server(event=threading.Event(), server=session)

    def _close_overdue(self) -> None:
        """Close the sessions that were silent for too long, and forget the sessions that have ended."""
        for session in self.sessions:
            if session.overdue():
                logger.info("SFTP connection from %s ended: silent for too long", session.address)
                session.end()
        self.sessions[:] = [session for session in self.sessions if session.alive]

    def _end(self) -> None:
        self._listener.close()
        for session in self.sessions:
            session.end()
        for session in self.sessions:
            session.transport.join(STOP_TIMEOUT)
            for handler in session.handlers:
                handler.join(STOP_TIMEOUT)
        close_idle(0.0)
        self._wake.close()
        self._woken.close()
