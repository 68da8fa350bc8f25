"""Functions that give a file its name, in one transaction with the row that records the upload."""

from __future__ import annotations

from sftp_ingest.area import contents, cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import Parts, join_path
from sftp_ingest.models import OpenUpload, Upload


def publish(upload: Upload, finished: OpenUpload, parts: Parts, times: tuple[int, int] | None) -> None:
    """Record a complete upload and give it its name, in one transaction.

    All uploads of the area wait for this transaction, so it runs few statements. Raises Refused, TakenUp, or
    a database error.
    """
    area = Area(upload.supplier_id)
    with area.change() as row:
        cut_uploads.close(finished)
        contents.complete(finished.blob, upload.size, upload.sha256)
        row.used_bytes -= finished.reserved_bytes
        upload.blob = finished.blob
        upload.save(force_insert=True)
        area.put_within(row, parts, finished.blob, times)


def publish_renamed(area: Area, old: Parts, new: Parts, address: str) -> Upload:
    """Rename a file into an import folder and record this as an upload, in one transaction."""
    with area.change():
        blob = area.rename(old, new).blob
        assert blob is not None  # only folders have no blob
        upload = Upload(
            supplier_id=area.supplier_id,
            path=join_path(new),
            size=blob.size,
            sha256=blob.sha256,
            remote_address=address,
            blob=blob,
        )
        upload.save(force_insert=True)
    return upload
