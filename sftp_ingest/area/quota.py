"""How full the areas are, counted as bytes come in: what does not fit is refused while it is written.

An upload sets bytes aside before it writes them, more at a time the larger it grows: so that two servers
never give out the same byte, and that few pieces of a file cost a statement.
"""

from __future__ import annotations

from django.db.models import F
from django.db.models.functions import Now

from sftp_ingest.area import cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.errors import Refused
from sftp_ingest.models import OpenUpload, UploadArea

MOST_AT_ONCE = 16 * 1024**2
SHARE_OF_FREE = 16  # where an area is nearly full, others must find room, too


def used(supplier_id: int) -> int:
    """The bytes that count against the quota, with those set aside for open uploads."""
    row = UploadArea.objects.filter(supplier_id=supplier_id).first()
    return row.used_bytes if row else 0


def reserve(upload: OpenUpload, needed: int, quota: int) -> None:
    """Set bytes aside for an open upload, at least so many; uploads that were cut give way.

    Raises Refused when the quota does not allow it, TakenUp.
    """
    with Area(upload.supplier_id).change() as area:
        if quota - area.used_bytes < needed:
            cut = cut_uploads.kept().filter(supplier_id=upload.supplier_id).exclude(pk=upload.pk)
            area.used_bytes -= cut_uploads.remove(cut)
        free = quota - area.used_bytes
        if free < needed:
            raise Refused(
                f"The upload area is full: it holds {quota} bytes. Remove what is no longer needed."
            )
        granted = max(needed, min(upload.reserved_bytes, MOST_AT_ONCE, free // SHARE_OF_FREE))
        area.used_bytes += granted
        cut_uploads.update(upload, reserved_bytes=F("reserved_bytes") + granted, heard_at=Now())
    upload.reserved_bytes += granted
