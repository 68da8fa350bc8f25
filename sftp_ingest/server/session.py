"""One client's connection: who it is, and what of SSH it may use (only the subsystem sftp)."""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import paramiko
from django.db import Error as DatabaseError
from django.utils import timezone
from paramiko.common import cMSG_USERAUTH_BANNER

from sftp_ingest.area.files import Area
from sftp_ingest.database import own_connection
from sftp_ingest.models import SftpLogin
from sftp_ingest.server import authentication, login_throttle
from sftp_ingest.server.turns import one_at_a_time

logger = logging.getLogger(__name__)

CANNOT_CHECK = "Logins cannot be checked at this moment. Nothing is wrong with yours: try again in a while."


@dataclass(frozen=True)
class Limits:
    """How much one client, and all of them together, may use. Seconds and counts."""

    authenticate_within: float = 30.0
    open_channel_within: float = 30.0
    idle: float = 600.0
    failure_delay: float = 1.0  # times the failures so far
    max_failure_delay: float = 5.0
    unauthenticated_per_address: int = 32
    unauthenticated: int = 200
    connections_per_login: int = 32
    without_channel_per_address: int = 100
    connections: int = 1000
    channels: int = 4
    handles: int = 32


@dataclass(eq=False)
class Session(paramiko.ServerInterface):  # type: ignore[misc]
    """Answers what paramiko asks for one connection. Shells, commands and forwards stay refused."""

    transport: paramiko.Transport
    address: str
    limits: Limits
    stopping: threading.Event
    sessions: list[Session]
    login: SftpLogin | None = None
    admitted: bool = False
    handlers: list[threading.Thread] = field(default_factory=list)
    _channels: set[int] = field(default_factory=set)
    _started: set[int] = field(default_factory=set)
    connected_at: float = field(default_factory=time.monotonic)
    last_seen: float = field(default_factory=time.monotonic)

    def touch(self) -> None:
        self.last_seen = time.monotonic()

    @property
    def authenticated(self) -> bool:
        return bool(self.transport.is_authenticated())

    @property
    def shows_errors(self) -> bool:
        """Whether the client is one that gives its user what comes as standard error, like all of OpenSSH."""
        return "OpenSSH" in str(self.transport.remote_version)

    @property
    def logging_in(self) -> bool:
        """Whether the client has yet to log in. Hundreds that have gone shut no door while they end."""
        return bool(self.transport.is_active()) and not self.authenticated

    @property
    def has_channel(self) -> bool:
        """Whether the client has begun to work, and not only logged in."""
        return bool(self.handlers)

    @property
    def alive(self) -> bool:
        """Whether any of it still works, be it only on finishing a file."""
        return self.transport.is_alive() or any(each.is_alive() for each in self.handlers)

    def overdue(self) -> bool:
        """Whether the client has been silent for too long, or has taken too long to log in or to begin."""
        now = time.monotonic()
        if not self.transport.is_active():
            return False
        if self.logging_in:
            return now - self.connected_at > self.limits.authenticate_within
        return now - self.last_seen > (
            self.limits.idle if self.has_channel else self.limits.open_channel_within
        )

    def end(self) -> None:
        """Close the connection. Without the first step, paramiko's thread would notice seconds later."""
        with suppress(OSError):
            self.transport.sock.shutdown(socket.SHUT_RDWR)
        self.transport.close()

    # Authentication, in the transport's thread.

    def get_allowed_auths(self, username: str) -> str:
        return "publickey,password"

    def check_auth_password(self, username: str, password: str | bytes) -> int:
        text = password if isinstance(password, str) else password.decode("latin-1")
        try:
            with one_at_a_time(self.address):
                delay = self._try_password(username, text)
        except (DatabaseError, TimeoutError):
            logger.exception("SFTP login of %r cannot be checked", username)
            self._say(CANNOT_CHECK)
            return int(paramiko.AUTH_FAILED)
        if self.login:
            return self._answer(self.login)
        self.stopping.wait(min(delay, self.limits.max_failure_delay))
        return int(paramiko.AUTH_FAILED)

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Offered keys are not counted as failures: a client tries all that its agent has."""
        self.login = None
        if self._must_wait(username, login_throttle.seconds_to_wait(username, self.address)):
            self.stopping.wait(min(self.limits.failure_delay, self.limits.max_failure_delay))
            return int(paramiko.AUTH_FAILED)
        try:
            with own_connection():
                self.login = authentication.by_key(username, key)
        except DatabaseError:
            logger.exception("SFTP login of %r: the database does not answer", username)
            self._say(CANNOT_CHECK)
        return self._answer(self.login) if self.login else int(paramiko.AUTH_FAILED)

    def _try_password(self, username: str, password: str) -> float:
        """Find the login; if there is none, return the seconds by which the answer is delayed."""
        self.login = None
        pair_wait = login_throttle.seconds_to_wait(username, self.address)
        if self._must_wait(username, pair_wait or login_throttle.address_seconds_to_wait(self.address)):
            return self.limits.failure_delay
        with own_connection():
            self.login = authentication.by_password(username, password)
        if self.login:
            return 0.0
        failures = login_throttle.record_failure(username, self.address)
        logger.warning("SFTP login of %r from %s failed (%d)", username, self.address, failures)
        return self.limits.failure_delay * failures

    def _must_wait(self, username: str, seconds: float) -> bool:
        if seconds:
            logger.warning("SFTP login of %r from %s must wait %d s more", username, self.address, seconds)
        return seconds > 0

    def _answer(self, login: SftpLogin) -> int:
        """The answer to the right password or key: no, when the login has all its connections already."""
        limit = self.limits.connections_per_login
        others = [each for each in self.sessions if each is not self and each.login == login]
        if sum(each.authenticated for each in others) < limit:
            self.touch()
            return int(paramiko.AUTH_SUCCESSFUL)
        logger.warning("SFTP login %s has %d connections already", login, limit)
        self._say(f"The login {login} has {limit} connections already. Close one, or wait until one ends.")
        self.login = None
        return int(paramiko.AUTH_FAILED)

    def _say(self, text: str) -> None:
        """A banner: what clients show to people, while a refused login itself bears no words."""
        banner = paramiko.Message()
        banner.add_byte(cMSG_USERAUTH_BANNER)
        banner.add_string(f"{text}\r\n")
        banner.add_string("en")
        self.transport._send_message(banner)

    # What an authenticated client may open.

    def check_channel_request(self, kind: str, chanid: int) -> int:
        open_channels = len(self._channels) - sum(not each.is_alive() for each in self.handlers)
        if kind != "session":
            return int(paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)
        if self.login is None or open_channels >= self.limits.channels or not self._admit(self.login):
            return int(paramiko.OPEN_FAILED_RESOURCE_SHORTAGE)
        self._channels.add(chanid)
        return int(paramiko.OPEN_SUCCEEDED)

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        """Starts the subsystem: one for each channel."""
        if channel.get_id() in self._started:
            return False
        self._started.add(channel.get_id())
        return bool(super().check_channel_subsystem_request(channel, name))

    def _admit(self, login: SftpLogin) -> bool:
        """Note the login, once; only here it is certain that a key's signature was right, too."""
        if self.admitted:
            return True
        others = [each for each in self.sessions if each.admitted and each.login == login]
        if len(others) >= self.limits.connections_per_login:
            logger.warning("SFTP login %s has %d sessions already", login, len(others))
            return False
        login_throttle.forget_failures(login.username, self.address)
        try:
            with own_connection():
                SftpLogin.objects.filter(pk=login.pk).update(last_login_at=timezone.now())
                Area(login.supplier_id).prepare()
        except DatabaseError:
            logger.exception("SFTP login %s cannot be served", login)
            return False
        self.admitted = True
        self.touch()
        logger.info("SFTP login %s from %s", login, self.address)
        return True
