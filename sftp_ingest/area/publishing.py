"""Functions that give a file its name, in one transaction with the row that records the upload."""

from __future__ import annotations

from sftp_ingest.area import contents, cut_uploads
from sftp_ingest.area.files import Area
from sftp_ingest.area.paths import Parts, import_kind_of, join_path
from sftp_ingest.models import DirectoryEntry, OpenUpload, Upload


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


def rename(area: Area, old: Parts, new: Parts, address: str) -> None:
    """Rename a file or folder. Each file that this brings into an import folder counts as an upload.

    Everything is one transaction. Raises Missing, Refused.
    """
    with area.change():
        moved = area.rename(old, new)
        if moved.is_folder and old[0] == new[0]:
            return  # the top folder is the same, so no file enters another import folder
        entries = area.below(new) if moved.is_folder else area.entries.filter(pk=moved.pk)
        files = entries.exclude(blob=None).select_related("blob").order_by("pk")
        Upload.objects.bulk_create(
            _upload_of(entry, address)
            for entry in files
            if _enters(join_path(old) + entry.path.removeprefix(join_path(new)), entry.path)
        )


def _enters(old: str, new: str) -> bool:
    """Return whether an import kind reads files at the new path, and did not read files at the old path."""
    return import_kind_of(new) not in (None, import_kind_of(old))


def _upload_of(entry: DirectoryEntry, address: str) -> Upload:
    blob = entry.blob
    assert blob is not None  # only folders have no blob
    return Upload(
        supplier_id=entry.supplier_id,
        path=entry.path,
        size=blob.size,
        sha256=blob.sha256,
        remote_address=address,
        blob=blob,
    )
