"""An SFTP client for a supplier's upload area. It accepts only the host key of demo.json."""

from __future__ import annotations

import base64
import io
from contextlib import suppress
from typing import Any, Self

import paramiko


class Area:
    """An open upload area.

    Example: `with Area(demo["sftp"], name, password) as area: area.put("products/a.csv", b"…")`.
    """

    def __init__(self, place: Any, username: str, password: str) -> None:
        self._place, self._username, self._password = place, username, password

    def __enter__(self) -> Self:
        self.transport = paramiko.Transport((self._place["host"], self._place["port"]))
        kind, encoded = self._place["host_key"].split()[:2]
        key = paramiko.Ed25519Key(data=base64.b64decode(encoded))
        assert kind == "ssh-ed25519"
        try:
            self.transport.connect(key, self._username, self._password)
            client = paramiko.SFTPClient.from_transport(self.transport)
        except BaseException:
            self.transport.close()
            raise
        assert client is not None
        self.sftp = client
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(EOFError, OSError):  # a test may have cut the connection
            self.sftp.close()
        self.transport.close()

    def put(self, path: str, content: bytes) -> None:
        self.sftp.putfo(io.BytesIO(content), path)

    def get(self, path: str) -> bytes:
        kept = io.BytesIO()
        self.sftp.getfo(path, kept)
        return kept.getvalue()
