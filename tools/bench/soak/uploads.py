"""A supplier's script that uploads a file by SFTP to either host until the file has arrived."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import paramiko

from sftp_ingest.keys import parse_public_key
from tools.bench.soak.client import BETWEEN, TIMEOUT, Tally, Unexpected


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
        """Upload until a host shows the complete file. Raise Unexpected."""
        began = time.monotonic()
        while True:
            try:
                with self._session(next(self._turns)) as session:
                    session.putfo(io.BytesIO(content), path)  # it checks the size at the end
            except paramiko.BadHostKeyException as error:
                raise Unexpected(f"upload of {path}: {error}") from error
            except (paramiko.SSHException, OSError, EOFError) as error:
                self.tally.count(f"upload broken off ({type(error).__name__})")
                if self.give_up.wait(BETWEEN):
                    raise Unexpected(f"upload of {path}: still {error} at the end") from error
            else:
                self.tally.outage(time.monotonic() - began)
                return

    def read(self, path: str) -> bytes:
        """Return the files that the first host lists. Retry until a host answers."""
        while True:
            try:
                with self._session(self.ports[0]) as session, session.open(path) as file:
                    return bytes(file.read())
            except (paramiko.SSHException, OSError, EOFError) as error:
                self.tally.count(f"reading broken off ({type(error).__name__})")
                if self.give_up.wait(BETWEEN):
                    raise Unexpected(f"reading {path}: still {error} at the end") from error

    @contextmanager
    def _session(self, port: int) -> Iterator[paramiko.SFTPClient]:
        client = paramiko.SSHClient()
        key = parse_public_key(self.host_key)
        client.get_host_keys().add(f"[127.0.0.1]:{port}", key.get_name(), key)
        try:
            client.connect(
                "127.0.0.1",
                port,
                self.username,
                self.password,
                timeout=TIMEOUT,
                banner_timeout=TIMEOUT,
                auth_timeout=TIMEOUT,
                channel_timeout=TIMEOUT,
                allow_agent=False,
                look_for_keys=False,
            )
            session = client.open_sftp()
            session.get_channel().settimeout(TIMEOUT)
            yield session
        finally:
            client.close()
