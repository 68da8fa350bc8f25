"""Upload areas, each a supplier's tree of names. A name is a row, its content a blob; none is ever a path."""

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
    STANDING_FOLDERS,
    Parts,
    fits,
    join_path,
    parse_path,
)
from sftp_ingest.errors import Forbidden, Missing, Refused
from sftp_ingest.models import Blob, Entry, OpenUpload, UploadArea

FOLDER_SIZE = 4096


class Area:
    """One supplier's files. Paths are what `parse_path` made of them."""

    def __init__(self, supplier_id: int) -> None:
        self.supplier_id = supplier_id

    @property
    def entries(self) -> QuerySet[Entry]:
        return Entry.objects.filter(supplier_id=self.supplier_id)

    def prepare(self) -> None:
        """Make the folders that every area has."""
        row = UploadArea(supplier_id=self.supplier_id)
        UploadArea.objects.bulk_create([row], ignore_conflicts=True)
        folders = [self._new((name,)) for name in STANDING_FOLDERS]
        Entry.objects.bulk_create(folders, ignore_conflicts=True)

    def _new(self, parts: Parts, blob: Blob | None = None) -> Entry:
        now = int(time.time())
        return Entry(
            supplier_id=self.supplier_id,
            folder=join_path(parts[:-1]),
            name=parts[-1],
            blob=blob,
            size=blob.size if blob else 0,
            accessed=now,
            modified=now,
        )

    # What is there.

    def find(self, parts: Parts) -> Entry | None:
        return self.entries.filter(folder=join_path(parts[:-1]), name=parts[-1]).first()

    def entry(self, parts: Parts) -> Entry:
        """The file or folder of that name. Raises Missing."""
        found = self.find(parts)
        if found is None:
            self.require_folder(parts[:-1])
            raise Missing(f"There is no {join_path(parts)}.")
        return found

    def file(self, parts: Parts) -> Entry:
        """The file of that name, with its blob. Raises Missing, Refused."""
        if not parts:
            raise Refused("This must be a file, not a folder.")
        self.require_folder(parts[:-1])
        named = self.entries.filter(folder=join_path(parts[:-1]), name=parts[-1])
        found = named.select_related("blob").first()
        if found is None:
            raise Missing(f"There is no file {join_path(parts)} in the upload area.")
        if found.is_folder:
            raise Refused(f"{join_path(parts)} is not a plain file.")
        return found

    def require_folder(self, parts: Parts) -> None:
        """Raises Missing, naming the first folder along the path that is not there."""
        found = self.find(parts) if parts else None
        if not parts or (found and found.is_folder):
            return
        self.require_folder(parts[:-1])
        raise Missing(f"There is no folder {join_path(parts)}.")

    def status(self, parts: Parts) -> os.stat_result:
        """What is under that name: a file or a folder. Raises Missing."""
        return status_of(self.entry(parts)) if parts else folder_status(time.time())

    def listing(self, parts: Parts) -> list[tuple[str, os.stat_result]]:
        """The files and folders in a folder, by name. Raises Missing."""
        self.require_folder(parts)
        found = self.entries.filter(folder=join_path(parts))
        return sorted((entry.name, status_of(entry)) for entry in found)

    def below(self, parts: Parts) -> QuerySet[Entry]:
        """All that is in a folder, at any depth."""
        return self.entries.filter(_within(join_path(parts))) if parts else self.entries

    # Changes: each in a transaction that locks the area.

    @contextmanager
    def change(self) -> Iterator[UploadArea]:
        """A transaction in which nobody else changes the area; saves how full it is then."""
        with transaction.atomic():
            row = UploadArea.objects.select_for_update().filter(supplier_id=self.supplier_id).first()
            if row is None:
                self.prepare()
                row = UploadArea.objects.select_for_update().get(supplier_id=self.supplier_id)
            before = row.used_bytes
            yield row
            if grown := row.used_bytes - before:  # a change within this one has written its own
                row.used_bytes = F("used_bytes") + grown
                row.save(update_fields=["used_bytes"])

    def put(self, parts: Parts, blob: Blob, times: tuple[int, int] | None = None) -> None:
        """Let a blob appear under a name, in place of the file that has it. Raises Missing, Refused."""
        with self.change() as row:
            self.put_within(row, parts, blob, times)

    def put_within(self, row: UploadArea, parts: Parts, blob: Blob, times: tuple[int, int] | None) -> None:
        """The same within a `change`, whose row it is."""
        self.require_folder(parts[:-1])
        former = self.find(parts)
        if former and former.is_folder:
            raise Refused(f"{join_path(parts)} is there already, and is not a plain file.")
        entry = self._new(parts, blob)
        if times:
            entry.accessed, entry.modified = times
        if former:
            entry.pk = former.pk
            entry.save(update_fields=["blob", "size", "accessed", "modified"])
            self._left(row, former)
        else:
            entry.save(force_insert=True)
        row.used_bytes += _counted(entry)
        Blob.objects.filter(pk=blob.pk).update(unused_at=None)

    def _left(self, row: UploadArea, entry: Entry) -> None:
        """A file's name does not name that blob any more."""
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
            self._left(row, entry)

    def make_folder(self, parts: Parts) -> None:
        """Raises Missing, Refused."""
        with self.change():
            self.require_folder(parts[:-1])
            if self.find(parts):
                raise Refused(f"{join_path(parts)} is there already.")
            self._new(parts).save(force_insert=True)

    def remove_folder(self, parts: Parts) -> None:
        """Remove an empty folder. Raises Missing, Refused."""
        with self.change():
            entry = self.entry(parts)
            if not entry.is_folder or self.below(parts).exists():
                raise Refused(f"{join_path(parts)} is no empty folder.")
            entry.delete()

    def rename(self, old: Parts, new: Parts) -> Entry:
        """Give a file or folder another name; a file's, or an empty folder's, is taken from it.

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

    def _make_way(self, row: UploadArea, entry: Entry, old: Parts, new: Parts) -> None:
        target, why = self.find(new), ""
        if entry.is_folder and new[: len(old)] == old:
            why = "it would be in itself"
        elif target and target.is_folder and not entry.is_folder:
            why = "that is a folder"
        elif target and entry.is_folder and not target.is_folder:
            why = "that is a file"
        elif target and target.is_folder and self.below(new).exists():
            why = "that folder is not empty"
        if why:
            raise Refused(f"{join_path(old)} cannot become {join_path(new)}: {why}.")
        if target:
            target.delete()
            self._left(row, target)

    def _move_content(self, old: Parts, new: Parts) -> None:
        path, below = join_path(old), self.below(old)
        inner = (f"{folder[len(path) + 1 :]}/{name}" for folder, name in below.values_list("folder", "name"))
        if not all(fits((*new, *rest.strip("/").split("/"))) for rest in inner):
            raise Refused(f"{path} cannot become {join_path(new)}: paths in it would be too long.")
        # substr begins at 1.
        below.update(folder=Concat(Value(join_path(new)), Substr(F("folder"), len(path) + 1)))

    def set_times(self, parts: Parts, accessed: int, modified: int) -> None:
        """Set the times of a file or folder, in seconds since 1970. Raises Missing."""
        if parts:
            entry = self.entry(parts)
            self.entries.filter(pk=entry.pk).update(accessed=accessed, modified=modified)

    def count_again(self) -> int:
        """Count the bytes of the area anew; return by how many it was wrong."""
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


def _counted(entry: Entry) -> int:
    """The bytes that count against the quota: not those of reports, which this service writes."""
    return 0 if f"{entry.path}/".startswith(f"{REPORTS}/") else entry.size


def status_of(entry: Entry) -> os.stat_result:
    if entry.is_folder:
        return folder_status(entry.modified, entry.accessed)
    times = (entry.accessed, entry.modified, entry.modified)
    return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, entry.size, *times))


def folder_status(modified: float, accessed: float | None = None) -> os.stat_result:
    times = (modified if accessed is None else accessed, modified, modified)
    return os.stat_result((stat.S_IFDIR, 0, 0, 1, 0, 0, FOLDER_SIZE, *times))


def changeable(parts: Parts) -> Parts:
    """The parts, if what is there may be put, renamed or removed. Raises Forbidden."""
    if len(parts) == 0 or (len(parts) == 1 and parts[0] in STANDING_FOLDERS):
        raise Forbidden(f"The folder /{join_path(parts)} is always there.")
    return writable(parts)


def writable(parts: Parts) -> Parts:
    """The parts, if what is there is not only for reading. Raises Forbidden."""
    if parts and parts[0] in READ_ONLY:
        raise Forbidden(f"{parts[0]}/ is only for reading.")
    return parts


def file_in_area(supplier: Supplier, path: str) -> Entry:
    """A file in the supplier's area, with its blob.

    Raises Refused (a ValueError with a sentence to show) for `..`, folders, and what is missing.
    """
    return Area(supplier.pk).file(parse_path(path))


def put_in_area(supplier: Supplier, path: str, content: Iterable[bytes]) -> Entry:
    """Put a file into a supplier's area, with the folders that it needs. Raises Refused, OSError."""
    area, parts = Area(supplier.pk), parse_path(path)
    blob = contents.write(content)
    with area.change():
        area.prepare()
        for depth in range(1, len(parts)):
            if not area.find(parts[:depth]):
                area.make_folder(parts[:depth])
        area.put(parts, blob)
    return area.file(parts)
