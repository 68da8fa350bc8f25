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
    """The default of `on_read` and `on_finished`."""


@dataclass(frozen=True)
class MadeFile:
    """A generated file.

    `on_read` is called when a client begins to read it, and `on_finished` when a client that was sent all of
    its bytes closes it. A client that loses its connection closes nothing.
    """

    content: bytes
    on_read: Callable[[], None] = _nothing
    on_finished: Callable[[], None] = _nothing
    modified: float = field(default_factory=time.time)

    @property
    def status(self) -> os.stat_result:
        return _status(stat.S_IFREG, len(self.content), self.modified)


class MadeFolder(ABC):
    """A folder of generated files that every area has, or a folder within it."""

    name: ClassVar[str]
    folders: ClassVar[Mapping[str, MadeFolder]] = {}

    def within(self, parts: Parts) -> tuple[MadeFolder, Parts]:
        """Return the folder that a path leads to or into, and the rest of the path."""
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
        """Generate the file of this name. A folder may have files that it does not list."""
        make = self.files(supplier_id).get(name)
        return make() if make else None


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
