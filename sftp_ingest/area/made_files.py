"""Folders of an upload area with files that are generated when a client reads them.

The apps that generate files register their folders here in `ready()`, because this app may not import them.
"""

from __future__ import annotations

import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.errors import Missing


def _nothing() -> None:
    """Do nothing. This is the default of `on_read` and `on_finished`."""


@dataclass(frozen=True)
class MadeFile:
    """A generated file.

    `on_read` is called when a client begins to read the file. `on_finished` is called when the client closes
    the file, if all bytes were sent. After a lost connection, `on_finished` is not called.
    """

    content: bytes
    on_read: Callable[[], None] = _nothing
    on_finished: Callable[[], None] = _nothing
    modified: float = field(default_factory=time.time)

    @property
    def status(self) -> os.stat_result:
        return _status(stat.S_IFREG, len(self.content), self.modified)


class MadeFolder(ABC):
    """A folder of generated files that every area has, or a folder inside such a folder."""

    name: ClassVar[str]
    folders: ClassVar[Mapping[str, MadeFolder]] = {}

    def within(self, parts: Parts) -> tuple[MadeFolder, Parts]:
        """Return the innermost generated folder on a path, and the names after this folder."""
        if len(parts) > 1 and parts[1] in self.folders:
            return self.folders[parts[1]].within(parts[1:])
        return self, parts[1:]

    @abstractmethod
    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        """Return the functions that generate the files, by file name."""

    @property
    def status(self) -> os.stat_result:
        return _status(stat.S_IFDIR, 4096, time.time())

    def file(self, supplier_id: int, parts: Parts) -> MadeFile:
        """Generate the file at a path of the area. Raises Missing."""
        folder, rest = self.within(parts)
        made = folder.find(supplier_id, join_path(rest))
        if made is None:
            raise Missing(f"There is no {join_path(parts)}.")
        return made

    def find(self, supplier_id: int, name: str) -> MadeFile | None:
        """Generate the file of this name, or return None. A subclass may find a file that `files` lacks."""
        make = self.files(supplier_id).get(name)
        return make() if make else None


_folders: dict[str, MadeFolder] = {}


def register(folder: MadeFolder) -> None:
    _folders[folder.name] = folder


def made_folders() -> Mapping[str, MadeFolder]:
    return _folders


def made_folder(parts: Parts) -> MadeFolder | None:
    """Return the generated folder at the beginning of a path, or None."""
    return _folders.get(parts[0]) if parts else None


def _status(kind: int, size: int, modified: float) -> os.stat_result:
    return os.stat_result((kind, 0, 0, 1, 0, 0, size, modified, modified, modified))
