"""Find or store the file of an import job: an uploaded file, a file to fetch, or the lines of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet, Sum

from accounts.models import Supplier
from api.errors import ApiError, Invalid, Unavailable
from imports.models import ImportJob
from sftp_ingest.area import contents, quota
from sftp_ingest.area.files import Area, file_in_area
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob
from sftp_ingest.remote.sources import Local, classify

# The largest number of files that a supplier's unfinished and failed jobs may keep. Failed jobs keep their
# files for a week, because they can be retried.
MOST_FILES = 1_000
LINES_AT_ONCE = 10_000


class StoredFile(NamedTuple):
    """A job's file; `blob` is None while the file has to be fetched."""

    blob: Blob | None
    # For a file in the upload area, its path, even if the client named a URL. For a file to fetch, its URL.
    source: str
    # When the upload was complete; None for a file that was not uploaded.
    uploaded_at: datetime | None = None


class QuotaExceeded(ApiError):
    """The error for a file that would exceed the supplier's quota."""

    code, status = "quota_exceeded", 409


def keep_lines(supplier: Supplier, lines: Sequence[str]) -> Blob:
    """Store the lines of a request. Raises QuotaExceeded, Unavailable."""
    refuse_hoarding(supplier, sum(map(len, lines)))
    try:
        return contents.write(_chunks(lines))
    except OSError as error:
        raise Unavailable("The lines cannot be stored right now. Try again.") from error


def _chunks(lines: Sequence[str]) -> Iterator[bytes]:
    for start in range(0, len(lines), LINES_AT_ONCE):
        some = lines[start : start + LINES_AT_ONCE]
        yield "".join(f"{line.rstrip(chr(13) + chr(10))}\n" for line in some).encode()


def bytes_outside_area(supplier_id: int) -> int:
    """Return the total size of the files that imports keep outside the upload area. Count each file once."""
    kept = Blob.objects.filter(pk__in=_keeping(supplier_id).values("blob"), entries=None)
    return kept.aggregate(sum=Sum("size"))["sum"] or 0


def _keeping(supplier_id: int) -> QuerySet[ImportJob]:
    """Return a supplier's jobs that keep a file. Succeeded and canceled jobs have released their files."""
    return ImportJob.objects.filter(supplier_id=supplier_id, blob__isnull=False)


@contextmanager
def room_for(supplier: Supplier, size: int) -> Iterator[None]:
    """Lock the supplier's quota while a job that keeps a new file is created. Raises QuotaExceeded.

    Without the lock, two requests could both see the same free bytes.
    """
    with Area(supplier.pk).change():
        refuse_hoarding(supplier, size)
        yield


def refuse_hoarding(supplier: Supplier, size: int) -> None:
    """Raise QuotaExceeded if the supplier may not keep one more file of this size."""
    if _keeping(supplier.pk).count() >= MOST_FILES:
        raise QuotaExceeded(
            f"{MOST_FILES} of your imports are unfinished or failed and keep a file."
            " Wait until some are done, or cancel some."
        )
    used, whole = quota.used(supplier.pk), quota.quota_of(supplier.pk)
    if used + size > whole:
        raise QuotaExceeded(
            f"Your upload area and your imports hold {used} of {whole} bytes,"
            f" and this import needs {size} more. Remove files from the upload area,"
            " or cancel imports that wait or failed."
        )


def keep_version(supplier: Supplier, path: str, field: str) -> Blob:
    """Return the blob of an uploaded file. A later upload under the same name does not change the blob.

    Raises Invalid.
    """
    try:
        blob = file_in_area(supplier, path).blob
    except Refused as error:
        raise Invalid.at(field, str(error)) from error
    assert blob is not None  # `file_in_area` refuses folders, which have no blob
    return blob


def keep(supplier: Supplier, url: str, field: str) -> StoredFile:
    """Return the file at a path or URL. Its blob is None if it must be fetched later. Raises Invalid."""
    location = classify(supplier, url, field)
    if not isinstance(location, Local):
        return StoredFile(None, url)
    blob = keep_version(supplier, location.path, field)
    return StoredFile(blob, location.path, uploaded_at=blob.completed_at)
