"""A supplier's upload area for tests: paths that work without the SFTP server."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from accounts.models import Supplier
from sftp_ingest.area import contents
from sftp_ingest.area.files import Area, put_in_area, status_of
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.errors import Missing
from sftp_ingest.models import DirectoryEntry


class AreaPath:
    """A path in an upload area, with the interface of `pathlib.Path`."""

    def __init__(self, supplier: Supplier, parts: Parts = ()) -> None:
        self.supplier, self.parts = supplier, parts
        self.area = Area(supplier.pk)

    def __truediv__(self, path: str) -> AreaPath:
        return AreaPath(self.supplier, (*self.parts, *path.split("/")))

    def __lt__(self, other: AreaPath) -> bool:
        return self.parts < other.parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AreaPath) and (self.supplier, self.parts) == (other.supplier, other.parts)

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return f"<{join_path(self.parts)} of {self.supplier}>"

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def entry(self) -> DirectoryEntry:
        return self.area.entry(self.parts)

    def exists(self) -> bool:
        return not self.parts or self.area.find(self.parts) is not None

    def read_bytes(self) -> bytes:
        blob = self.area.file(self.parts).blob
        assert blob is not None
        reader = contents.reader_of(blob)
        content = reader.read(0, blob.size)
        reader.close()
        return content

    def read_text(self) -> str:
        return self.read_bytes().decode().replace("\r\n", "\n")  # Path.read_text also translates line ends

    def write_bytes(self, content: bytes) -> None:
        put_in_area(self.supplier, join_path(self.parts), [content])

    def write_text(self, content: str) -> None:
        self.write_bytes(content.encode())

    def unlink(self, *, missing_ok: bool = False) -> None:
        try:
            self.area.remove(self.parts)
        except Missing:
            if not missing_ok:
                raise

    def stat(self) -> os.stat_result:
        return status_of(self.entry)

    def iterdir(self) -> Iterator[AreaPath]:
        for name, _ in self.area.listing(self.parts):
            yield self / name

    def files(self) -> list[AreaPath]:
        """Return all files below this folder, sorted by path."""
        below = sorted(entry.path for entry in self.area.below(self.parts) if not entry.is_folder)
        return [AreaPath(self.supplier, tuple(path.split("/"))) for path in below]

    def names(self) -> list[str]:
        """Return the names of the entries in this folder."""
        return [name for name, _ in self.area.listing(self.parts)]

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.stat().st_mode)


def area_of(supplier: Supplier) -> AreaPath:
    """Return the root of a supplier's upload area, with the folders that always exist."""
    Area(supplier.pk).prepare()
    return AreaPath(supplier)
