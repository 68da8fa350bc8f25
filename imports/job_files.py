"""Where a job's own copy of its file comes from: the upload area, a remote host, or lines in the request."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from accounts.models import Supplier
from api.errors import ApiError, Invalid, Unavailable
from sftp_ingest.area.files import link_version
from sftp_ingest.errors import Refused
from sftp_ingest.models import Upload
from sftp_ingest.remote.sources import Local, classify

FOLDER = ".jobs"
# What a supplier's jobs may keep: those that wait, and the failed ones, which can be retried for a week.
MOST_FILES, MOST_BYTES = 1_000, 1024**3


class Kept(NamedTuple):
    """A job's own file, by its name within the uploads folder."""

    name: str
    # Whether it still has to be fetched.
    remote: bool = False
    # When its upload was complete, where it was uploaded.
    uploaded_at: datetime | None = None


def folder() -> Path:
    """Where jobs keep their files: outside of every area, on the same file system."""
    path = Path(settings.UPLOADS_DIR) / FOLDER
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _fresh() -> str:
    folder()
    return f"{FOLDER}/{secrets.token_hex(16)}.csv"


class QuotaExceeded(ApiError):
    """A party stores more than it may."""

    code, status = "quota_exceeded", 409


def keep_lines(lines: Sequence[str], kept: Iterable[str] = ()) -> str:
    """Write the lines of a request to a job's own file; return its name within the uploads folder.

    `kept` names the files of the supplier's other jobs, which count, too. Raises QuotaExceeded, Unavailable.
    """
    _refuse_hoarding(kept)
    name = _fresh()
    path = Path(settings.UPLOADS_DIR) / name
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.writelines(f"{line.rstrip(chr(13) + chr(10))}\n" for line in lines)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise Unavailable("The lines cannot be kept for the import just now. Try again.") from error
    return name


def _refuse_hoarding(names: Iterable[str]) -> None:
    sizes = [size for size in map(_size, names) if size is not None]
    if len(sizes) >= MOST_FILES or sum(sizes) >= MOST_BYTES:
        raise QuotaExceeded(
            f"{len(sizes)} imports of yours wait or have failed, with {sum(sizes)} bytes of their own; "
            f"at most {MOST_FILES} and {MOST_BYTES} bytes are kept. Wait until they are done, or cancel some."
        )


def _size(name: str) -> int | None:
    try:
        return (Path(settings.UPLOADS_DIR) / name).stat().st_size
    except OSError:
        return None


def keep_version(supplier: Supplier, path: str, field: str) -> str:
    """Keep the present version of an uploaded file for a job, whatever becomes of its name."""
    name = _fresh()
    try:
        link_version(supplier, path, Path(settings.UPLOADS_DIR) / name)
    except Refused as error:
        raise Invalid.at(field, str(error)) from error
    except OSError as error:
        raise Unavailable("The file cannot be kept for the import just now. Try again.") from error
    return name


def keep(supplier: Supplier, url: str, field: str) -> Kept:
    """Keep the file that a path or URL names, or a name for it where it has to be fetched. Raises Invalid."""
    found = classify(supplier, url, field)
    if not isinstance(found, Local):
        return Kept(_fresh(), remote=True)
    name = keep_version(supplier, found.path, field)
    return Kept(name, uploaded_at=_uploaded_at(supplier, found.path, name))


def _uploaded_at(supplier: Supplier, path: str, name: str) -> datetime | None:
    """When this version was complete; None where what is recorded is another one, as after a rename."""
    newest = Upload.objects.filter(supplier=supplier, path=path).order_by("-pk").first()
    if newest is None or newest.size != (Path(settings.UPLOADS_DIR) / name).stat().st_size:
        return None
    return newest.uploaded_at
