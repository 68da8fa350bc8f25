"""Functions that write, read and delete blobs and their rows."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from sftp_ingest.blobs.local import LocalStore
from sftp_ingest.blobs.store import Reader, Writer
from sftp_ingest.blobs.stores import store_for_new, store_named
from sftp_ingest.models import GIB, Blob, DroppedBlob

CHUNK_SIZE = 1024**2
# Unused blobs are kept for an hour: a reader may still read the blob, or a new row may soon refer to it.
UNUSED_KEPT = timedelta(hours=1)
# The quota does not count replaced and removed content. On a disk with less free space, such content is
# deleted soon, so that one supplier cannot fill the disk. Readers on this host can still read it.
SCARCE_BYTES = 16 * GIB
RELEASED_KEPT = timedelta(minutes=1)
AT_ONCE = 200


def begin() -> tuple[Blob, Writer]:
    """Create the row of a new blob, and return the row and the blob's writer. Raises OSError."""
    store = store_for_new()
    blob = Blob.objects.create(store=store.name)
    return blob, store.create(blob.pk)


def write(chunks: Iterable[bytes]) -> Blob:
    """Write a complete blob. It is deleted after an hour unless a row refers to it. Raises OSError."""
    blob, writer = begin()
    digest, size = hashlib.sha256(), 0
    try:
        for chunk in chunks:
            writer.write(size, chunk)
            digest.update(chunk)
            size += len(chunk)
            writer.checkpoint(size)
        writer.complete(size)
        complete(blob, size, digest.hexdigest())
    except BaseException:
        writer.discard()
        blob.delete()
        raise
    return blob


def complete(blob: Blob, size: int, sha256: str) -> None:
    """Mark a blob as complete. The caller must add a row that refers to it."""
    blob.size, blob.sha256, blob.completed_at = size, sha256, Now()
    blob.save(update_fields=["size", "sha256", "completed_at"])


def reader_of(blob: Blob) -> Reader:
    """Open a blob for reading. Raises OSError."""
    return store_named(blob.store).reader(blob.pk)


def local_file(blob: Blob) -> AbstractContextManager[Path]:
    """Provide the content as a file on this host inside a `with` block. Raises OSError."""
    return store_named(blob.store).local_file(blob.pk)


def is_lost(blob: Blob) -> bool:
    """Return whether the store answers and has no content of this complete blob. Raises OSError."""
    return store_named(blob.store).size(blob.pk) is None


def sha256_of(blob: Blob) -> str:
    """Read a whole blob from its store and return its SHA-256."""
    digest, position, reader = hashlib.sha256(), 0, reader_of(blob)
    try:
        while data := reader.read(position, CHUNK_SIZE):
            digest.update(data)
            position += len(data)
    finally:
        reader.close()
    return digest.hexdigest()


def release(numbers: Collection[int]) -> None:
    """Record that a reference to these blobs was removed. `collect` deletes unreferenced blobs later."""
    Blob.objects.filter(pk__in=numbers).update(unused_at=Now())


def drop(numbers: Collection[int]) -> None:
    """Delete the rows of blobs without references. `delete_dropped` deletes their content soon after."""
    with transaction.atomic():
        dropped = Blob.objects.filter(pk__in=numbers).order_by("pk").select_for_update()
        rows = [DroppedBlob(number=blob.pk, store=blob.store) for blob in dropped]
        DroppedBlob.objects.bulk_create(rows, ignore_conflicts=True)
        Blob.objects.filter(pk__in=[row.number for row in rows]).delete()


def collect() -> int:
    """Delete a batch of blobs without references, and return their number."""
    with transaction.atomic():
        unused = Blob.objects.filter(_overdue()).order_by("unused_at")
        checked = {blob.pk for blob in unused.select_for_update(skip_locked=True)[:AT_ONCE]}
        unnamed = set(Blob.objects.filter(pk__in=checked).unnamed().values_list("pk", flat=True))
        Blob.objects.filter(pk__in=checked - unnamed).update(unused_at=None)
        drop(unnamed)
    return delete_dropped()


def _overdue() -> Q:
    """Return the condition that finds the blobs to delete, unless a row refers to them. Raises OSError."""
    overdue = Q(unused_at__lt=Now() - UNUSED_KEPT)
    store = store_for_new()
    if store.name == LocalStore.name and store.free_bytes() < SCARCE_BYTES:
        # Keep a new blob, to which no row refers yet. It counts as unused since before it was complete.
        released = Q(store=store.name, unused_at__gt=F("completed_at"))
        overdue |= released & Q(unused_at__lt=Now() - RELEASED_KEPT)
    return overdue


def delete_dropped() -> int:
    """Delete the content of a batch of blobs without rows, and return their number. Raises OSError."""
    dropped = list(DroppedBlob.objects.order_by("number")[:AT_ONCE])
    for blob in dropped:
        store_named(blob.store).delete(blob.number)
        blob.delete()
    return len(dropped)
