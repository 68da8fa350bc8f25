"""The SFTP server: takes connections, counts them, and ends those that stay silent too long."""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from contextlib import suppress
from secrets import SystemRandom

import paramiko

from sftp_ingest.bounded_attributes import bound_attributes
from sftp_ingest.database import close_idle
from sftp_ingest.server.addresses import plain_address, source_of
from sftp_ingest.server.host_key import host_key
from sftp_ingest.server.session import Limits, Session
from sftp_ingest.server.speed import BufferedSocket, use_fast_checksums
from sftp_ingest.server.subsystem import Subsystem

logger = logging.getLogger(__name__)

CIPHERS = ("aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr", "aes192-ctr", "aes128-ctr")
MACS = ("hmac-sha2-512-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512", "hmac-sha2-256")
CHECK_INTERVAL = 1.0  # seconds
WAKE_INTERVAL = 5.0  # seconds
STOP_TIMEOUT = 5.0  # seconds that a session has to end in


class Server:
    """Listens from the start; `serve` works until `stop`."""

    def __init__(self, host: str, port: int, limits: Limits | None = None) -> None:
        """Raises OSError when the address is taken."""
        self.limits = limits or Limits()
        self.sessions: list[Session] = []
        self._key = host_key()
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
        """Ask `serve` to end; may be called from a signal handler or another thread."""
        self._stopping.set()
        with suppress(OSError):
            self._wake.send(b"!")

    def serve(self) -> None:
        """Take clients until `stop`; then end their sessions, and drop what was not finished."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            try:
                while not self._stopping.is_set():
                    selector.select(CHECK_INTERVAL)
                    self._accept()
                    self._close_overdue()
                    close_idle()
            finally:
                self._end()

    def _accept(self) -> None:
        """Take the clients that wait. Out of descriptors or threads, refuse them and go on."""
        with suppress(BlockingIOError):
            while not self._stopping.is_set():
                try:
                    client, (address, *_) = self._listener.accept()
                    self._receive(client, plain_address(address))
                except BlockingIOError:
                    raise
                except (OSError, RuntimeError):
                    logger.exception("an SFTP client could not be taken")
                    self._stopping.wait(0.1)

    def _receive(self, client: socket.socket, address: str) -> None:
        try:
            if self._has_room(address):
                self._begin(client, address)
                return
            logger.warning("SFTP connection from %s refused: too many", address)
        except BaseException:
            client.close()
            raise
        client.close()

    def _has_room(self, address: str) -> bool:
        """Whether there is room; a flood from one address leaves some for others.

        Who has opened a channel does not count for the address: the login's own limit holds there, and behind
        one address may be all the suppliers of an office, or of a load balancer.
        """
        source = source_of(address)
        from_there = [each for each in self.sessions if source_of(each.address) == source]
        logging_in = sum(each.logging_in for each in self.sessions)
        half = self.limits.unauthenticated / 2
        # From half of the limit on, more and more are refused at random, so that some always get in.
        dropped = SystemRandom().random() < (logging_in - half) / half
        return (
            not dropped
            and sum(each.logging_in for each in from_there) < self.limits.unauthenticated_per_address
            and sum(not each.has_channel for each in from_there) < self.limits.without_channel_per_address
            and len(self.sessions) < self.limits.connections
        )

    def _begin(self, client: socket.socket, address: str) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = paramiko.Transport(BufferedSocket(client))
        transport.local_version = "SSH-2.0-Exchange"
        # Many that connect at once take their time: what ends one is its own limit.
        transport.banner_timeout = transport.handshake_timeout = self.limits.authenticate_within
        transport.add_server_key(self._key)
        transport.set_subsystem_handler("sftp", Subsystem)
        client.settimeout(WAKE_INTERVAL)  # paramiko looks ten times a second whether anything is to be done
        options = transport.get_security_options()
        options.ciphers, options.digests = CIPHERS, MACS
        session = Session(transport, address, self.limits, self._stopping, self.sessions)
        self.sessions.append(session)
        transport.start_server(event=threading.Event(), server=session)

    def _close_overdue(self) -> None:
        """Close the sessions that are silent for too long, and forget those that have ended."""
        for session in self.sessions:
            if session.overdue():
                logger.info("SFTP connection from %s ended: silent for too long", session.address)
                session.end()
        self.sessions[:] = [each for each in self.sessions if each.alive]

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
