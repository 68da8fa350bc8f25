"""Upload areas: a tree of names for each supplier. A name is a row, and a file's content is a blob."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum, Value
from django.db.models.functions import Concat, Substr

from accounts.models import Supplier
from sftp_ingest.area import contents
from sftp_ingest.area.paths import (
    READ_ONLY,
    REPORTS,
    Parts,
    fits,
    join_path,
    parse_path,
    standing_folders,
)
from sftp_ingest.errors import Missing, NotAllowed, Refused
from sftp_ingest.models import Blob, DirectoryEntry, OpenUpload, UploadArea

FOLDER_SIZE = 4096


class Area:
    """The upload area of one supplier. Its methods take paths that `parse_path` returned."""

    def __init__(self, supplier_id: int) -> None:
        self.supplier_id = supplier_id

    @property
    def entries(self) -> QuerySet[DirectoryEntry]:
        return DirectoryEntry.objects.filter(supplier_id=self.supplier_id)

    def prepare(self) -> None:
        """Make the folders that every area has."""
        row = UploadArea(supplier_id=self.supplier_id)
        UploadArea.objects.bulk_create([row], ignore_conflicts=True)
        folders = [self._new((name,)) for name in standing_folders()]
        DirectoryEntry.objects.bulk_create(folders, ignore_conflicts=True)

    def _new(self, parts: Parts, blob: Blob | None = None) -> DirectoryEntry:
        now = int(time.time())
        return DirectoryEntry(
            supplier_id=self.supplier_id,
            folder=join_path(parts[:-1]),
            name=parts[-1],
            blob=blob,
            size=blob.size if blob else 0,
            accessed=now,
            modified=now,
        )

    # --- Reads ------------------------------------------------------------------------------------

    def find(self, parts: Parts) -> DirectoryEntry | None:
        return self.entries.filter(folder=join_path(parts[:-1]), name=parts[-1]).first()

    def entry(self, parts: Parts) -> DirectoryEntry:
        """Return the file or folder at a path. Raises Missing."""
        entry = self.find(parts)
        if entry is None:
            self.require_folder(parts[:-1])
            raise Missing(f"There is no {join_path(parts)}.")
        return entry

    def file(self, parts: Parts) -> DirectoryEntry:
        """Return the file at a path, with its blob. Raises Missing, Refused."""
        if not parts:
            raise Refused("This must be a file, not a folder.")
        # The first login creates the rows of the standing folders. Until then, treat them as empty folders.
        if join_path(parts[:-1]) not in standing_folders():
            self.require_folder(parts[:-1])
        named = self.entries.filter(folder=join_path(parts[:-1]), name=parts[-1])
        entry = named.select_related("blob").first()
        if entry is None:
            raise Missing(f"There is no file {join_path(parts)} in the upload area.")
        if entry.is_folder:
            raise Refused(f"{join_path(parts)} is not a plain file.")
        return entry

    def require_folder(self, parts: Parts) -> None:
        """Check that a folder exists. Raises Missing with the first missing folder of the path."""
        entry = self.find(parts) if parts else None
        if not parts or (entry and entry.is_folder):
            return
        self.require_folder(parts[:-1])
        raise Missing(f"There is no folder {join_path(parts)}.")

    def status(self, parts: Parts) -> os.stat_result:
        """Return the status of the file or folder at a path. Raises Missing."""
        return status_of(self.entry(parts)) if parts else folder_status(time.time())

    def listing(self, parts: Parts) -> list[tuple[str, os.stat_result]]:
        """Return the files and folders in a folder, sorted by name. Raises Missing."""
        self.require_folder(parts)
        entries = self.entries.filter(folder=join_path(parts))
        return sorted((entry.name, status_of(entry)) for entry in entries)

    def below(self, parts: Parts) -> QuerySet[DirectoryEntry]:
        """Return the entries in a folder at any depth."""
        return self.entries.filter(_within(join_path(parts))) if parts else self.entries

    # --- Changes: each runs in a transaction that locks the area ----------------------------------

    @contextmanager
    def change(self) -> Iterator[UploadArea]:
        """Open a transaction that locks the area, and save its used bytes at the end."""
        with transaction.atomic():
            row = UploadArea.objects.select_for_update().filter(supplier_id=self.supplier_id).first()
            if row is None:
                self.prepare()
                row = UploadArea.objects.select_for_update().get(supplier_id=self.supplier_id)
            before = row.used_bytes
            yield row
            # Add the difference in SQL, because a nested `change` may have saved its own difference.
            if grown := row.used_bytes - before:
                row.used_bytes = F("used_bytes") + grown
                row.save(update_fields=["used_bytes"])

    def put(self, parts: Parts, blob: Blob, times: tuple[int, int] | None = None) -> None:
        """Give a blob a name. A file with this name is replaced. Raises Missing, Refused."""
        with self.change() as row:
            self.put_within(row, parts, blob, times)

    def put_within(self, row: UploadArea, parts: Parts, blob: Blob, times: tuple[int, int] | None) -> None:
        """Give a blob a name inside an open `change`, which has yielded `row`. Raises Missing, Refused."""
        self.require_folder(parts[:-1])
        former = self.find(parts)
        if former and former.is_folder:
            raise Refused(f"{join_path(parts)} exists already and is not a plain file.")
        entry = self._new(parts, blob)
        if times:
            entry.accessed, entry.modified = times
        if former:
            entry.pk = former.pk
            entry.save(update_fields=["blob", "size", "accessed", "modified"])
            self._release(row, former)
        else:
            entry.save(force_insert=True)
        row.used_bytes += _counted(entry)
        Blob.objects.filter(pk=blob.pk).update(unused_at=None)

    def _release(self, row: UploadArea, entry: DirectoryEntry) -> None:
        """Release the blob and the quota of a file that was removed or replaced."""
        row.used_bytes -= _counted(entry)
        if entry.blob_id is not None:
            contents.release([entry.blob_id])

    def remove(self, parts: Parts) -> None:
        """Remove a file. Raises Missing, Refused."""
        with self.change() as row:
            entry = self.entry(parts)
            if entry.is_folder:
                raise Refused(f"{join_path(parts)} is a folder.")
            entry.delete()
            self._release(row, entry)

    def make_folder(self, parts: Parts) -> None:
        """Make a folder. Raises Missing, Refused."""
        with self.change():
            self.require_folder(parts[:-1])
            if self.find(parts):
                raise Refused(f"{join_path(parts)} exists already.")
            self._new(parts).save(force_insert=True)

    def remove_folder(self, parts: Parts) -> None:
        """Remove an empty folder. Raises Missing, Refused."""
        with self.change():
            entry = self.entry(parts)
            if not entry.is_folder or self.below(parts).exists():
                raise Refused(f"{join_path(parts)} is not an empty folder.")
            entry.delete()

    def rename(self, old: Parts, new: Parts) -> DirectoryEntry:
        """Rename a file or folder. A file or an empty folder with the new name is replaced.

        Raises Missing, Refused.
        """
        with self.change() as row:
            entry = self.entry(old)
            self.require_folder(new[:-1])
            if old == new:
                return entry
            self._make_way(row, entry, old, new)
            if entry.is_folder:
                self._move_content(old, new)
            entry.folder, entry.name = join_path(new[:-1]), new[-1]
            entry.save(update_fields=["folder", "name"])
            return entry

    def _make_way(self, row: UploadArea, entry: DirectoryEntry, old: Parts, new: Parts) -> None:
        target, why = self.find(new), ""
        if entry.is_folder and new[: len(old)] == old:
            why = "it would contain itself"
        elif target and target.is_folder and not entry.is_folder:
            why = "the target is a folder"
        elif target and entry.is_folder and not target.is_folder:
            why = "the target is a file"
        elif target and target.is_folder and self.below(new).exists():
            why = "the target folder is not empty"
        if why:
            raise Refused(f"{join_path(old)} cannot become {join_path(new)}: {why}.")
        if target:
            target.delete()
            self._release(row, target)

    def _move_content(self, old: Parts, new: Parts) -> None:
        path, below = join_path(old), self.below(old)
        inner = (f"{folder[len(path) + 1 :]}/{name}" for folder, name in below.values_list("folder", "name"))
        if not all(fits((*new, *rest.strip("/").split("/"))) for rest in inner):
            raise Refused(f"{path} cannot become {join_path(new)}: paths in it would be too long.")
        # SQL counts the characters of a text from 1.
        below.update(folder=Concat(Value(join_path(new)), Substr(F("folder"), len(path) + 1)))

    def set_times(self, parts: Parts, accessed: int, modified: int) -> None:
        """Set the times of a file or folder, in seconds since 1970. Raises Missing."""
        if parts:
            entry = self.entry(parts)
            self.entries.filter(pk=entry.pk).update(accessed=accessed, modified=modified)

    def recalculate(self) -> int:
        """Recompute the used bytes of the area. Return the difference from the stored number."""
        with self.change() as row:
            former = row.used_bytes
            files = self.entries.exclude(_within(REPORTS))
            unfinished = OpenUpload.objects.filter(supplier_id=self.supplier_id)
            row.used_bytes = (files.aggregate(sum=Sum("size"))["sum"] or 0) + (
                unfinished.aggregate(sum=Sum("reserved_bytes"))["sum"] or 0
            )
            return row.used_bytes - former


def _within(path: str) -> Q:
    return Q(folder=path) | Q(folder__startswith=f"{path}/")


def _counted(entry: DirectoryEntry) -> int:
    """Return the bytes that count against the quota. Reports do not count, since the service writes them."""
    return 0 if f"{entry.path}/".startswith(f"{REPORTS}/") else entry.size


def status_of(entry: DirectoryEntry) -> os.stat_result:
    if entry.is_folder:
        return folder_status(entry.modified, entry.accessed)
    times = (entry.accessed, entry.modified, entry.modified)
    return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, entry.size, *times))


def folder_status(modified: float, accessed: float | None = None) -> os.stat_result:
    times = (modified if accessed is None else accessed, modified, modified)
    return os.stat_result((stat.S_IFDIR, 0, 0, 1, 0, 0, FOLDER_SIZE, *times))


def changeable(parts: Parts) -> Parts:
    """Return the parts if the path may be written, renamed or removed. Raises NotAllowed."""
    if len(parts) == 0 or (len(parts) == 1 and parts[0] in standing_folders()):
        raise NotAllowed(f"The folder /{join_path(parts)} cannot be changed.")
    return writable(parts)


def writable(parts: Parts) -> Parts:
    """Return the parts of the path if its folder is not read-only. Raises NotAllowed."""
    if parts and parts[0] in READ_ONLY:
        raise NotAllowed(f"{parts[0]}/ is read-only.")
    return parts


def file_in_area(supplier: Supplier, path: str) -> DirectoryEntry:
    """Return a file in the supplier's area, with its blob.

    Raises Refused (a ValueError with a sentence to show) for `..`, folders, and missing files.
    """
    return Area(supplier.pk).file(parse_path(path))


def put_in_area(supplier: Supplier, path: str, content: Iterable[bytes]) -> DirectoryEntry:
    """Put a file into a supplier's area and make its folders. Raises Refused, OSError."""
    area, parts = Area(supplier.pk), parse_path(path)
    blob = contents.write(content)
    with area.change():
        area.prepare()
        for depth in range(1, len(parts)):
            if not area.find(parts[:depth]):
                area.make_folder(parts[:depth])
        area.put(parts, blob)
    return area.file(parts)
