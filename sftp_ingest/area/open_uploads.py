"""Which uploads are under way in this process, so that a login finds its own."""

from __future__ import annotations

import threading
from typing import Generic, Protocol, TypeVar

from sftp_ingest.area.paths import Parts
from sftp_ingest.models import SftpLogin


class Unfinished(Protocol):
    login: SftpLogin
    parts: Parts


T = TypeVar("T", bound=Unfinished)


class OpenUploads(Generic[T]):
    """The unfinished files of all sessions, by login and path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[tuple[int, Parts], list[T]] = {}

    def add(self, file: T) -> None:
        with self._lock:
            self._files.setdefault((file.login.pk, file.parts), []).append(file)

    def remove(self, file: T) -> None:
        key = (file.login.pk, file.parts)
        with self._lock:
            left = [each for each in self._files.pop(key, []) if each is not file]
            if left:
                self._files[key] = left

    def at(self, login: SftpLogin, parts: Parts) -> list[T]:
        """The login's uploads to that path, the latest first."""
        with self._lock:
            return self._files.get((login.pk, parts), [])[::-1]
