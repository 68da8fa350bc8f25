"""The JSON of uploads in the API (contract 10)."""

from __future__ import annotations

from typing import TypedDict

from api.renderers import iso
from sftp_ingest.models import Upload


class UploadJson(TypedDict):
    """One complete upload."""

    id: int
    path: str
    size: int
    sha256: str
    uploaded_at: str
    remote_address: str | None


def upload_json(upload: Upload) -> UploadJson:
    return {
        "id": upload.pk,
        "path": upload.path,
        "size": upload.size,
        "sha256": upload.sha256,
        "uploaded_at": iso(upload.uploaded_at),
        "remote_address": upload.remote_address,
    }
