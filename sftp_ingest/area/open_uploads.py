"""The registry of the uploads in progress in this process, by supplier, login and path."""

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
    """The unfinished files of all sessions, by supplier, login and path.

    A login may be given to another supplier, who must not see the uploads in progress of the former supplier.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[tuple[int, int, Parts], list[T]] = {}

    def add(self, file: T) -> None:
        with self._lock:
            self._files.setdefault(_key(file.login, file.parts), []).append(file)

    def remove(self, file: T) -> None:
        key = _key(file.login, file.parts)
        with self._lock:
            others = [other for other in self._files.pop(key, []) if other is not file]
            if others:
                self._files[key] = others

    def at(self, login: SftpLogin, parts: Parts) -> list[T]:
        """Return the login's uploads to a path, newest first."""
        with self._lock:
            return self._files.get(_key(login, parts), [])[::-1]


def _key(login: SftpLogin, parts: Parts) -> tuple[int, int, Parts]:
    return login.supplier_id, login.pk, parts
