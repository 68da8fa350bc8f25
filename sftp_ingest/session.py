"""One client's connection: who it is, and which of SSH's many doors are open to it (one: sftp)."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

import paramiko
from django.db import Error as DatabaseError
from django.utils import timezone

from sftp_ingest import attempts, logins
from sftp_ingest.areas import Area
from sftp_ingest.database import own_connection
from sftp_ingest.models import SftpLogin

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """How much one client, and all of them, may ask of the server. Seconds and counts."""

    authenticate_within: float = 30.0
    idle: float = 600.0
    failure_delay: float = 1.0  # times the failures so far
    longest_delay: float = 5.0
    unproven_of_one_address: int = 10
    unproven: int = 100
    connections: int = 300
    sessions_of_one_login: int = 10
    channels: int = 4
    handles: int = 32


@dataclass(eq=False)
class Session(paramiko.ServerInterface):  # type: ignore[misc]
    """Answers what paramiko asks on behalf of one connection. Shells, commands, forwards stay refused."""

    transport: paramiko.Transport
    address: str
    limits: Limits
    stopping: threading.Event
    siblings: list[Session]
    login: SftpLogin | None = None
    arrived: bool = False
    handlers: list[threading.Thread] = field(default_factory=list)
    _channels: set[int] = field(default_factory=set)
    _started: set[int] = field(default_factory=set)
    last_seen: float = field(default_factory=time.monotonic)

    def touch(self) -> None:
        self.last_seen = time.monotonic()

    @property
    def proven(self) -> bool:
        return bool(self.transport.is_authenticated())

    @property
    def alive(self) -> bool:
        """Whether any of it still works, be it only on finishing a file."""
        return self.transport.is_alive() or any(each.is_alive() for each in self.handlers)

    def overdue(self) -> bool:
        """Whether the client has been silent, or undecided about who it is, for too long."""
        allowed = self.limits.idle if self.proven else self.limits.authenticate_within
        return time.monotonic() - self.last_seen > allowed

    # Authentication, in the transport's thread.

    def get_allowed_auths(self, username: str) -> str:
        return "publickey,password"

    def check_auth_password(self, username: str, password: str | bytes) -> int:
        text = password if isinstance(password, str) else password.decode("latin-1")
        if self._must_wait(username):
            return int(paramiko.AUTH_FAILED)
        try:
            with own_connection():
                self.login = logins.with_password(username, text)
        except DatabaseError:
            logger.exception("SFTP login of %r: the database does not answer", username)
            return int(paramiko.AUTH_FAILED)
        return int(paramiko.AUTH_SUCCESSFUL if self.login else self._failed(username))

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Offered keys are not counted as failures: a client tries all that its agent has."""
        if self._must_wait(username):
            return int(paramiko.AUTH_FAILED)
        try:
            with own_connection():
                self.login = logins.with_key(username, key)
        except DatabaseError:
            logger.exception("SFTP login of %r: the database does not answer", username)
        return int(paramiko.AUTH_SUCCESSFUL if self.login else paramiko.AUTH_FAILED)

    def _must_wait(self, username: str) -> bool:
        self.login = None
        seconds = attempts.wait_left(username, self.address)
        if seconds:
            logger.warning("SFTP login of %r from %s must wait %d s more", username, self.address, seconds)
            self.stopping.wait(min(self.limits.failure_delay, self.limits.longest_delay))
        return seconds > 0

    def _failed(self, username: str) -> int:
        failures = attempts.failed(username, self.address)
        logger.warning("SFTP login of %r from %s failed (%d)", username, self.address, failures)
        self.stopping.wait(min(self.limits.failure_delay * failures, self.limits.longest_delay))
        return int(paramiko.AUTH_FAILED)

    # What an authenticated client may open.

    def check_channel_request(self, kind: str, chanid: int) -> int:
        open_channels = len(self._channels) - sum(not each.is_alive() for each in self.handlers)
        if kind != "session":
            return int(paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)
        if self.login is None or open_channels >= self.limits.channels or not self._arrive(self.login):
            return int(paramiko.OPEN_FAILED_RESOURCE_SHORTAGE)
        self._channels.add(chanid)
        return int(paramiko.OPEN_SUCCEEDED)

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        """Starts the subsystem: one for each channel."""
        if channel.get_id() in self._started:
            return False
        self._started.add(channel.get_id())
        return bool(super().check_channel_subsystem_request(channel, name))

    def _arrive(self, login: SftpLogin) -> bool:
        """Note the login, once; only here it is certain that a key's signature was right, too."""
        if self.arrived:
            return True
        others = [each for each in self.siblings if each.arrived and each.login == login]
        if len(others) >= self.limits.sessions_of_one_login:
            logger.warning("SFTP login %s has %d sessions already", login, len(others))
            return False
        attempts.succeeded(login.username, self.address)
        try:
            with own_connection():
                SftpLogin.objects.filter(pk=login.pk).update(last_login_at=timezone.now())
            Area(login.supplier_id).prepare()
        except (DatabaseError, OSError):
            logger.exception("SFTP login %s cannot be served", login)
            return False
        self.arrived = True
        self.touch()
        logger.info("SFTP login %s from %s", login, self.address)
        return True
