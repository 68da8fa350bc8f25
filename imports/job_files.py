"""Where a job's content comes from: the upload area, a remote host, or lines in the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from accounts.models import Supplier
from api.errors import ApiError, Invalid, Unavailable
from imports.models import ImportJob
from sftp_ingest.area import contents
from sftp_ingest.area.files import file_in_area
from sftp_ingest.errors import Refused
from sftp_ingest.models import Blob, Upload
from sftp_ingest.remote.sources import Local, classify

# What a supplier's jobs may keep: those that wait, and the failed ones, which can be retried for a week.
MOST_FILES, MOST_BYTES = 1_000, 1024**3
LINES_AT_ONCE = 10_000


class Kept(NamedTuple):
    """A job's content. None: it still has to be fetched."""

    blob: Blob | None
    # When its upload was complete, where it was uploaded.
    uploaded_at: datetime | None = None


class QuotaExceeded(ApiError):
    """A party stores more than it may."""

    code, status = "quota_exceeded", 409


def keep_lines(supplier: Supplier, lines: Sequence[str]) -> Blob:
    """Keep the lines of a request for a job. Raises QuotaExceeded, Unavailable."""
    refuse_hoarding(supplier)
    try:
        return contents.write(_chunks(lines))
    except OSError as error:
        raise Unavailable("The lines cannot be kept for the import just now. Try again.") from error


def _chunks(lines: Sequence[str]) -> Iterator[bytes]:
    for start in range(0, len(lines), LINES_AT_ONCE):
        some = lines[start : start + LINES_AT_ONCE]
        yield "".join(f"{line.rstrip(chr(13) + chr(10))}\n" for line in some).encode()


def refuse_hoarding(supplier: Supplier) -> None:
    """Raises QuotaExceeded where a supplier's jobs keep as much as they may."""
    count, size = ImportJob.objects.kept_by(supplier)
    if count >= MOST_FILES or size >= MOST_BYTES:
        raise QuotaExceeded(
            f"{count} imports of yours wait or have failed, with {size} bytes of their own; "
            f"at most {MOST_FILES} and {MOST_BYTES} bytes are kept. Wait until they are done, or cancel some."
        )


def keep_version(supplier: Supplier, path: str, field: str) -> Blob:
    """The present version of an uploaded file, for a job to keep, whatever becomes of its name.

    Raises Invalid.
    """
    try:
        blob = file_in_area(supplier, path).blob
    except Refused as error:
        raise Invalid.at(field, str(error)) from error
    assert blob is not None  # it is a file
    return blob


def keep(supplier: Supplier, url: str, field: str) -> Kept:
    """Keep the file that a path or URL names, if it has not to be fetched. Raises Invalid."""
    found = classify(supplier, url, field)
    if not isinstance(found, Local):
        return Kept(None)
    blob = keep_version(supplier, found.path, field)
    return Kept(blob, uploaded_at=_uploaded_at(supplier, found.path, blob))


def _uploaded_at(supplier: Supplier, path: str, blob: Blob) -> datetime | None:
    """When this version was complete; None where what is recorded is another one, as after a rename."""
    newest = Upload.objects.filter(supplier=supplier, path=path).order_by("-pk").first()
    return newest.uploaded_at if newest and newest.size == blob.size else None
