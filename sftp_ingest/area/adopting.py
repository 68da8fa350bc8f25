"""The migration of old upload areas. They were folders on disk; their files become rows and blobs."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction

from accounts.models import Supplier
from sftp_ingest.area import contents
from sftp_ingest.area.files import Area
from sftp_ingest.area.made_files import made_folders
from sftp_ingest.area.paths import Parts, join_path, parse_path
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob

logger = logging.getLogger(__name__)


def adopt_all() -> int:
    """Migrate the folders of all suppliers, and return the number of files. The migration can be repeated."""
    return sum(adopt(supplier) for supplier in Supplier.objects.order_by("pk"))


def adopt(supplier: Supplier) -> int:
    """Migrate a supplier's folder and remove the migrated files from it. Raises OSError."""
    root, area, count = settings.UPLOADS_DIR / str(supplier.pk), Area(supplier.pk), 0
    if root.is_dir():
        area.prepare()
        for parts, path in _files(root, ()):
            count += _adopt_file(area, parts, path)
        _remove_empty(root)
    area.recalculate()
    return count


def _files(folder: Path, parts: Parts) -> Iterator[tuple[Parts, Path]]:
    """Yield all plain files below a folder. Symbolic links are not followed."""
    with os.scandir(folder) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    for entry in entries:
        inner = (*parts, entry.name)
        if entry.is_dir(follow_symlinks=False):
            if inner[0] not in made_folders():  # generated files are not stored
                yield from _files(folder / entry.name, inner)
        elif entry.is_file(follow_symlinks=False):
            yield inner, folder / entry.name


def _adopt_file(area: Area, parts: Parts, path: Path) -> bool:
    try:
        parts = parse_path(join_path(parts))
    except Refused as error:
        logger.warning("%s is not migrated: %s", path, error)
        return False
    if area.find(parts):  # the supplier has uploaded a newer file to this path
        path.unlink()
        return False
    status = path.stat()
    blob = _blob_of(path)
    with transaction.atomic():
        for depth in range(1, len(parts)):
            if not area.find(parts[:depth]):
                area.make_folder(parts[:depth])
        area.put(parts, blob, (int(status.st_atime), int(status.st_mtime)))
    path.unlink()
    return True


def _blob_of(path: Path) -> Blob:
    with path.open("rb") as file:
        return contents.write(iter(partial(file.read, contents.CHUNK_SIZE), b""))


def _remove_empty(folder: Path) -> None:
    for inner in [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]:
        _remove_empty(inner)
    with suppress(OSError):  # the folder may hold files that were not migrated
        folder.rmdir()
