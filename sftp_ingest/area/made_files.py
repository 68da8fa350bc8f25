"""Folders of an area with files that are generated when they are read.

The apps that generate them register here in `ready()`, because this room may not import them.
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
    """The default of `on_read`."""


@dataclass(frozen=True)
class MadeFile:
    """A generated file. `on_read` is called when a client begins to read it."""

    content: bytes
    on_read: Callable[[], None] = _nothing
    modified: float = field(default_factory=time.time)

    @property
    def status(self) -> os.stat_result:
        return _status(stat.S_IFREG, len(self.content), self.modified)


class MadeFolder(ABC):
    """A folder of generated files that every area has."""

    name: ClassVar[str]

    @abstractmethod
    def files(self, supplier_id: int) -> Mapping[str, Callable[[], MadeFile]]:
        """Return the functions that generate the files, by file name."""

    @property
    def status(self) -> os.stat_result:
        return _status(stat.S_IFDIR, 4096, time.time())

    def file(self, supplier_id: int, parts: Parts) -> MadeFile:
        """Generate the file at a path of the area. Raises Missing."""
        make = self.files(supplier_id).get(join_path(parts[1:]))
        if make is None:
            raise Missing(f"There is no {join_path(parts)}.")
        return make()


_folders: dict[str, MadeFolder] = {}


def register(folder: MadeFolder) -> None:
    _folders[folder.name] = folder


def made_folders() -> Mapping[str, MadeFolder]:
    return _folders


def made_folder(parts: Parts) -> MadeFolder | None:
    """Return the generated folder that a path leads into, if any."""
    return _folders.get(parts[0]) if parts else None


def _status(kind: int, size: int, modified: float) -> os.stat_result:
    return os.stat_result((kind, 0, 0, 1, 0, 0, size, modified, modified, modified))
