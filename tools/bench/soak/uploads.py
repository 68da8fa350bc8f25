"""A supplier's script that uploads a file by SFTP to either host until the file has arrived."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import paramiko

from sftp_ingest.keys import parse_public_key
from tools.bench.soak.client import BETWEEN, TIMEOUT, Tally, Unexpected

T = TypeVar("T")


@dataclass
class Uploader:
    """A login to the upload area that the hosts share, with their common host key."""

    ports: Sequence[int]
    host_key: str
    username: str
    password: str
    tally: Tally
    give_up: threading.Event

    def __post_init__(self) -> None:
        self._turns = itertools.cycle(self.ports)

    def put(self, path: str, content: bytes) -> None:
        """Upload a file repeatedly until a host confirms its size. Raise Unexpected after `give_up`."""

        def upload(session: paramiko.SFTPClient) -> None:
            session.putfo(io.BytesIO(content), path)  # putfo compares the size at the end

        began = time.monotonic()
        self._repeated("upload", path, upload)
        self.tally.outage(time.monotonic() - began)

    def read(self, path: str) -> bytes:
        """Return the content of a file. Retry until a host answers."""

        def content(session: paramiko.SFTPClient) -> bytes:
            with session.open(path) as file:
                return bytes(file.read())

        return self._repeated("reading", path, content)

    def _repeated(self, name: str, path: str, work: Callable[[paramiko.SFTPClient], T]) -> T:
        """Repeat the work on one host after the other until it succeeds."""
        while True:
            try:
                with self._session(next(self._turns)) as session:
                    return work(session)
            except paramiko.BadHostKeyException as error:
                raise Unexpected(f"{name} of {path}: {error}") from error
            except (paramiko.SSHException, OSError, EOFError) as error:
                self.tally.count(f"{name} broken off ({type(error).__name__})")
                if self.give_up.wait(BETWEEN):
                    raise Unexpected(f"{name} of {path}: still {error} at the end") from error

    @contextmanager
    def _session(self, port: int) -> Iterator[paramiko.SFTPClient]:
        client = paramiko.SSHClient()
        key = parse_public_key(self.host_key)
        client.get_host_keys().add(f"[127.0.0.1]:{port}", key.get_name(), key)
        try:
            limits = dict.fromkeys(["timeout", "banner_timeout", "auth_timeout", "channel_timeout"], TIMEOUT)
            keys = {"allow_agent": False, "look_for_keys": False}
            client.connect("127.0.0.1", port, self.username, self.password, **limits, **keys)
            session = client.open_sftp()
            session.get_channel().settimeout(TIMEOUT)
            yield session
        finally:
            client.close()
