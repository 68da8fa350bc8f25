"""The chunks of large files that a browser uploads, each chunk in its own request (ADR 22).

Chunks keep each request below the size limit and keep the file out of memory. The page can show the progress.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat

from accounts.actors import Actor
from api.errors import Invalid, Unavailable
from imports.models import UploadChunk
from sftp_ingest.area import contents

KEPT = timedelta(days=1)
AT_ONCE = 1_000
REQUEST_OVERHEAD = 64 * 1024
"""Bytes of a request in addition to its chunk: headers and form fields."""
LARGEST_CHUNK = 8 * 1024**2


def chunk_bytes() -> int:
    """Return the largest size of a chunk in bytes. A file of up to this size comes in one request."""
    most: int = settings.MAX_BODY_BYTES
    return min(LARGEST_CHUNK, most - REQUEST_OVERHEAD)


def keep_chunk(upload: UUID, place: int, chunks: Iterable[bytes], *, by: Actor) -> None:
    """Store a chunk. It replaces an earlier chunk at the same position.

    Raises Invalid when the file is too large or too many uploads are incomplete. Raises Unavailable when
    the chunk cannot be stored.
    """
    most: int = settings.BROWSER_UPLOAD_BYTES
    if place * chunk_bytes() >= most:
        raise Invalid(f"The file is larger than {filesizeformat(most)}.")
    # Do not count the chunk that the new chunk replaces. After a lost connection the browser sends the same
    # request again, and this request must succeed.
    waiting = UploadChunk.objects.filter(person=by.name).exclude(upload=upload, place=place)
    if (waiting.aggregate(size=Sum("blob__size"))["size"] or 0) >= 2 * most:
        raise Invalid("Too many of your uploads are incomplete. They are deleted after a day.")
    try:
        blob = contents.write(chunks)
    except OSError as error:
        raise Unavailable("The file cannot be stored right now. Try again.") from error
    with transaction.atomic():
        _forget(UploadChunk.objects.filter(person=by.name, upload=upload, place=place))
        UploadChunk.objects.create(person=by.name, upload=upload, place=place, blob=blob)


def joined(upload: UUID, count: int, *, by: Actor) -> Iterator[bytes]:
    """Return the bytes of the whole file.

    Raises Invalid when chunks are missing or the file is too large. The iteration raises OSError when a
    chunk cannot be read.
    """
    chunks = list(_of(upload, by).order_by("place").select_related("blob"))
    if not count or [chunk.place for chunk in chunks] != list(range(count)):
        raise Invalid("Parts of the file are missing. Send it again.")
    most: int = settings.BROWSER_UPLOAD_BYTES
    if sum(chunk.blob.size for chunk in chunks) > most:
        raise Invalid(f"The file is larger than {filesizeformat(most)}.")
    return _read_all(chunks)


def _read_all(chunks: Iterable[UploadChunk]) -> Iterator[bytes]:
    for chunk in chunks:
        reader, position = contents.reader_of(chunk.blob), 0
        try:
            while data := reader.read(position, contents.CHUNK_SIZE):
                yield data
                position += len(data)
        finally:
            reader.close()


def forget_chunks(upload: UUID, *, by: Actor) -> None:
    """Delete the chunks of an upload that is complete or given up."""
    _forget(_of(upload, by))


def forget_old() -> int:
    """Delete the chunks of abandoned uploads and return their number. Their blobs are deleted later."""
    old = UploadChunk.objects.filter(created_at__lt=Now() - KEPT).order_by("created_at")
    return _forget(UploadChunk.objects.filter(pk__in=[*old.values_list("pk", flat=True)[:AT_ONCE]]))


def _of(upload: UUID, by: Actor) -> QuerySet[UploadChunk]:
    return UploadChunk.objects.filter(person=by.name, upload=upload)


def _forget(chunks: QuerySet[UploadChunk]) -> int:
    with transaction.atomic():
        blobs = [*chunks.values_list("blob_id", flat=True)]
        count, _ = chunks.delete()
        contents.release(blobs)
    return count
