"""How full the areas are, counted as bytes come in: what does not fit is refused while it is written.

An upload sets bytes aside before it writes them, more at a time the larger it grows: so that two servers
never give out the same byte, and that few pieces of a file cost a statement.
"""

from __future__ import annotations

from django.db import connection
from django.db.models.functions import Now

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.errors import Refused
from sftp_ingest.models import OpenUpload, UploadArea

LEAST_AT_ONCE, MOST_AT_ONCE = 8 * 1024**2, 64 * 1024**2
SHARE_OF_FREE = 16  # where an area is nearly full, others must find room, too

# One statement, since all uploads of an area wait for its row: among busy threads each answer of the database
# waits for its turn, and while it did so between statements, the lock was held for tenths of a second.
# The area is locked first, as everywhere.
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


def used(supplier_id: int) -> int:
    """The bytes that count against the quota, with those set aside for open uploads."""
    row = UploadArea.objects.filter(supplier_id=supplier_id).first()
    return row.used_bytes if row else 0


def reserve(upload: OpenUpload, needed: int, quota: int) -> None:
    """Set bytes aside for an open upload, at least so many; uploads that were cut give way.

    Raises Refused when the quota does not allow it, TakenUp.
    """
    granted = _grant(upload, needed, quota)
    if not granted:
        cut_uploads.update(upload, heard_at=Now())  # raises TakenUp where that was the reason, not the quota
        _remove_cut_uploads(upload)
        granted = _grant(upload, needed, quota)
    if not granted:
        raise Refused(f"The upload area is full: it holds {quota} bytes. Remove what is no longer needed.")
    upload.reserved_bytes += granted


def _grant(upload: OpenUpload, needed: int, quota: int) -> int:
    """How many bytes were set aside; 0 when so many are not free, or another connection is at the upload."""
    # The first piece is often the whole file.
    wanted = min(max(upload.reserved_bytes, LEAST_AT_ONCE), MOST_AT_ONCE) if upload.reserved_bytes else needed
    with connection.cursor() as cursor:
        parameters = {
            "supplier": upload.supplier_id,
            "upload": upload.pk,
            "holder": upload.holder,
            "quota": quota,
            "needed": needed,
            "wanted": wanted,
            "share": SHARE_OF_FREE,
        }
        cursor.execute(GRANT, parameters)
        found = cursor.fetchone()
    return int(found[0]) if found else 0


def _remove_cut_uploads(upload: OpenUpload) -> None:
    """Make room for an upload: nobody could see what of the unfinished ones to remove."""
    with Area(upload.supplier_id).change() as area:
        cut = cut_uploads.kept().filter(supplier_id=upload.supplier_id).exclude(pk=upload.pk)
        area.used_bytes -= cut_uploads.remove(cut)
