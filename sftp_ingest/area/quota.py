"""The quota of a supplier: its upload area, and the files that other apps keep for it.

A file that does not fit is refused while it is written. An upload reserves bytes before it writes them, so
two servers never grant the same byte. A larger upload reserves more bytes at a time, so most chunks need no
SQL statement.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.db.models.functions import Now

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.errors import Refused
from sftp_ingest.models import OpenUpload, SftpLogin, UploadArea

LEAST_AT_ONCE, MOST_AT_ONCE = 8 * 1024**2, 64 * 1024**2
SHARE_OF_FREE = 16  # reserve at most a 16th of the free bytes ahead, so that other uploads find room

# This is one statement, because all uploads of an area wait for the area's row. With several statements, a
# busy process held the lock for tenths of a second between them. As everywhere, the area is locked first.
GRANT = """
    WITH area AS MATERIALIZED (
        SELECT %(quota)s - used_bytes AS free FROM sftp_ingest_uploadarea
        WHERE supplier_id = %(supplier)s FOR UPDATE
    ), granted AS (
        UPDATE sftp_ingest_openupload AS upload
        SET reserved_bytes = upload.reserved_bytes + bytes.number, heard_at = statement_timestamp()
        FROM (SELECT greatest(%(needed)s, least(%(wanted)s, free / %(share)s)) AS number FROM area
              WHERE free >= %(needed)s) AS bytes
        WHERE upload.blob_id = %(upload)s AND upload.holder = %(holder)s
        RETURNING bytes.number
    )
    UPDATE sftp_ingest_uploadarea AS area SET used_bytes = area.used_bytes + granted.number
    FROM granted WHERE area.supplier_id = %(supplier)s
    RETURNING granted.number
"""


_kept_outside: list[Callable[[int], int]] = []


def count_also(kept_bytes: Callable[[int], int]) -> None:
    """Register a function that returns the bytes that an app keeps for a supplier outside its area."""
    _kept_outside.append(kept_bytes)


def quota_of(supplier_id: int) -> int:
    """Return the quota of a supplier. A supplier without a login has the quota of a new login."""
    login = SftpLogin.objects.filter(supplier_id=supplier_id).only("quota_bytes").first()
    return (login or SftpLogin()).quota_bytes


def used(supplier_id: int) -> int:
    """Return the bytes that count against the quota, including bytes reserved for open uploads."""
    row = UploadArea.objects.filter(supplier_id=supplier_id).first()
    return (row.used_bytes if row else 0) + _outside(supplier_id)


def _outside(supplier_id: int) -> int:
    return sum(kept_bytes(supplier_id) for kept_bytes in _kept_outside)


def reserve(upload: OpenUpload, needed: int, quota: int) -> None:
    """Reserve at least `needed` bytes for an open upload. If necessary, delete cut uploads to make room.

    Raises Refused if the quota is exhausted, and TakenUp if another connection has resumed the upload.
    """
    granted = _grant(upload, needed, quota)
    if not granted:
        cut_uploads.update(upload, heard_at=Now())  # raises TakenUp if another connection resumed the upload
        _remove_cut_uploads(upload)
        granted = _grant(upload, needed, quota)
    if not granted:
        raise Refused(
            f"The upload area is full: files and waiting imports may have {quota} bytes together."
            " Remove files that you do not need, or cancel waiting imports."
        )
    upload.reserved_bytes += granted


def _grant(upload: OpenUpload, needed: int, quota: int) -> int:
    """Reserve bytes and return their number. Return 0 if the quota is too small or the upload was resumed."""
    # The first time, reserve only the needed bytes, because the first chunk is often the whole file.
    wanted = min(max(upload.reserved_bytes, LEAST_AT_ONCE), MOST_AT_ONCE) if upload.reserved_bytes else needed
    with connection.cursor() as cursor:
        parameters = {
            "supplier": upload.supplier_id,
            "upload": upload.pk,
            "holder": upload.holder,
            "quota": quota - _outside(upload.supplier_id),
            "needed": needed,
            "wanted": wanted,
            "share": SHARE_OF_FREE,
        }
        cursor.execute(GRANT, parameters)
        granted = cursor.fetchone()
    return int(granted[0]) if granted else 0


def _remove_cut_uploads(upload: OpenUpload) -> None:
    """Delete the supplier's cut uploads. No folder lists these uploads, so users cannot delete them."""
    with Area(upload.supplier_id).change() as area:
        cut = cut_uploads.kept().filter(supplier_id=upload.supplier_id).exclude(pk=upload.pk)
        area.used_bytes -= cut_uploads.remove(cut)
