"""One client's connection: its login, and its channels, which may only use the subsystem sftp."""

from __future__ import annotations

import logging
import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import paramiko
from django.db import Error as DatabaseError
from django.utils import timezone
from paramiko.common import DISCONNECT_SERVICE_NOT_AVAILABLE, cMSG_DISCONNECT, cMSG_USERAUTH_BANNER

from sftp_ingest.area.files import Area
from sftp_ingest.database import own_connection
from sftp_ingest.models import SftpLogin
from sftp_ingest.server import authentication, login_throttle
from sftp_ingest.server.turns import one_at_a_time

logger = logging.getLogger(__name__)

CANNOT_CHECK = "The service cannot check logins at the moment. Your login is not at fault. Try again later."

NO_SHELL = "This server has no shell. Use sftp, or scp without -O.\r\n"


@dataclass(frozen=True)
class SessionLimits:
    """Limits of one client, and of all clients together, in seconds and counts."""

    authenticate_within: float = 30.0
    password_turn_within: float = 60.0
    open_channel_within: float = 30.0
    idle: float = 600.0
    failure_delay: float = 1.0  # multiplied by the number of failures
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
    """The answers to paramiko's callbacks for one connection. Shells, commands and forwards are refused."""

    transport: paramiko.Transport
    address: str
    limits: SessionLimits
    stopping: threading.Event
    sessions: list[Session]
    login: SftpLogin | None = None
    admitted: bool = False
    checking: bool = False
    """Whether a password is being checked or waits for its check."""
    handlers: list[threading.Thread] = field(default_factory=list)
    _channels: set[int] = field(default_factory=set)
    _started: set[int] = field(default_factory=set)
    _unserved: set[int] = field(default_factory=set)
    """Channels that requested a shell or a command, such as the channel of `scp -O`."""
    connected_at: float = field(default_factory=time.monotonic)
    last_seen: float = field(default_factory=time.monotonic)

    def touch(self) -> None:
        self.last_seen = time.monotonic()

    @property
    def authenticated(self) -> bool:
        return bool(self.transport.is_authenticated())

    @property
    def shows_errors(self) -> bool:
        """Whether the client shows standard error to its user, as OpenSSH does."""
        return "OpenSSH" in str(self.transport.remote_version)

    @property
    def logging_in(self) -> bool:
        """Whether the client has not logged in yet. Closed connections do not count while they end."""
        return bool(self.transport.is_active()) and not self.authenticated

    @property
    def has_channel(self) -> bool:
        """Whether the client has started the subsystem sftp in a channel."""
        return bool(self.handlers)

    @property
    def alive(self) -> bool:
        """Whether any thread of the session still runs, for example to finish a file."""
        return self.transport.is_alive() or any(handler.is_alive() for handler in self.handlers)

    def overdue(self) -> bool:
        """Tell whether the client was silent for too long, or too slow to log in or to open a channel."""
        now = time.monotonic()
        if not self.transport.is_active():
            return False
        if self.logging_in:
            return not self.checking and now - self.connected_at > self.limits.authenticate_within
        return now - self.last_seen > (
            self.limits.idle if self.has_channel else self.limits.open_channel_within
        )

    def end(self) -> None:
        """Close the connection. Without the shutdown, paramiko's thread would end some seconds later."""
        with suppress(OSError):
            self.transport.sock.shutdown(socket.SHUT_RDWR)
        self.transport.close()

    # --- Authentication, in the transport's thread -------------------------------------------------

    def get_allowed_auths(self, username: str) -> str:
        return "publickey,password"

    def check_auth_password(self, username: str, password: str | bytes) -> int:
        text = password if isinstance(password, str) else password.decode("latin-1")
        try:
            with self._on_our_time(), one_at_a_time(self.address, self.limits.password_turn_within):
                delay = self._try_password(username, text)
        except (DatabaseError, TimeoutError):
            logger.exception("SFTP login of %r cannot be checked", username)
            return self._send_away()
        if self.login:
            return self._answer(self.login)
        self.stopping.wait(min(delay, self.limits.max_failure_delay))
        return int(paramiko.AUTH_FAILED)

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Check an offered key. A wrong key does not count as a failure: SSH agents offer all keys."""
        self.login = None
        if self._must_wait(username, login_throttle.seconds_to_wait(username, self.address)):
            self.stopping.wait(min(self.limits.failure_delay, self.limits.max_failure_delay))
            return int(paramiko.AUTH_FAILED)
        try:
            with own_connection():
                self.login = authentication.by_key(username, key)
        except DatabaseError:
            logger.exception("SFTP login of %r: the database does not answer", username)
            return self._send_away()
        return self._answer(self.login) if self.login else int(paramiko.AUTH_FAILED)

    @contextmanager
    def _on_our_time(self) -> Iterator[None]:
        """Do not count the time of this block against the client's time limit for the login."""
        began = time.monotonic()
        self.checking = True
        try:
            yield
        finally:
            self.connected_at += time.monotonic() - began
            self.checking = False

    def _send_away(self) -> int:
        """Disconnect with a message. If the login were refused, clients would report a wrong password."""
        farewell = paramiko.Message()
        farewell.add_byte(cMSG_DISCONNECT)
        farewell.add_int(DISCONNECT_SERVICE_NOT_AVAILABLE)
        farewell.add_string(CANNOT_CHECK)
        farewell.add_string("en")
        self.transport._send_message(farewell)
        self.transport.close()
        return int(paramiko.AUTH_FAILED)

    def _try_password(self, username: str, password: str) -> float:
        """Set `login` if the password is right. Otherwise return the seconds by which to delay the answer."""
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
            self._say(f"Too many logins failed. Try again in {math.ceil(seconds / 60)} minutes.")
        return seconds > 0

    def _answer(self, login: SftpLogin) -> int:
        """Accept a right password or key, unless the login has reached its limit of connections."""
        limit = self.limits.connections_per_login
        others = [other for other in self.sessions if other is not self and other.login == login]
        if sum(other.authenticated for other in others) < limit:
            self.touch()
            return int(paramiko.AUTH_SUCCESSFUL)
        logger.warning("SFTP login %s has %d connections already", login, limit)
        self._say(f"The login {login} has {limit} connections already. Close one or wait until one ends.")
        self.login = None
        return int(paramiko.AUTH_FAILED)

    def _say(self, text: str) -> None:
        """Send a banner, which clients show to people. The refusal of a login cannot contain a text."""
        banner = paramiko.Message()
        banner.add_byte(cMSG_USERAUTH_BANNER)
        banner.add_string(f"{text}\r\n")
        banner.add_string("en")
        self.transport._send_message(banner)

    # --- Channels, after the login ----------------------------------------------------------------

    def check_channel_request(self, kind: str, chanid: int) -> int:
        open_channels = len(self._channels) - sum(not handler.is_alive() for handler in self.handlers)
        if kind != "session":
            return int(paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)
        if self.login is None or open_channels >= self.limits.channels or not self._admit(self.login):
            return int(paramiko.OPEN_FAILED_RESOURCE_SHORTAGE)
        self._channels.add(chanid)
        return int(paramiko.OPEN_SUCCEEDED)

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        """Start the subsystem, once per channel."""
        if channel.get_id() in self._started:
            return False
        self._started.add(channel.get_id())
        return bool(super().check_channel_subsystem_request(channel, name))

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """Accept a command and let `after_request` refuse it. Otherwise clients do not show NO_SHELL."""
        self._unserved.add(channel.get_id())
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        self._unserved.add(channel.get_id())
        return True

    def after_request(self, channel: paramiko.Channel) -> None:
        """Send NO_SHELL in answer to a command or a shell, and end the channel."""
        if channel.get_id() not in self._unserved:
            return
        self._unserved.discard(channel.get_id())
        self._channels.discard(channel.get_id())
        channel.settimeout(0)  # never block: this thread must also read the client's window updates
        with suppress(OSError, paramiko.SSHException):
            channel.send_stderr(NO_SHELL)
            channel.send_exit_status(1)
        channel.close()

    def _admit(self, login: SftpLogin) -> bool:
        """Record the login once, at the first channel. Return whether the session is admitted.

        An earlier record could be wrong: the client may have offered a key without proving its ownership.
        """
        if self.admitted:
            return True
        others = [other for other in self.sessions if other.admitted and other.login == login]
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
