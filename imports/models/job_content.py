"""The file of an import job, stored as a blob. Jobs made before blobs existed have their own copy."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from django.conf import settings
from django.db import models

from fastdb.after_commit import call_after_commit
from sftp_ingest.area import contents
from sftp_ingest.models import Blob

LEFT_OUT = "left_out_warehouses"
"""The option of a job that was approved without some of its warehouses."""


class JobContent(models.Model):
    """The part of an import job that keeps its file."""

    file = models.CharField(
        max_length=500, blank=True, help_text="The copy of the file, for jobs made before there were blobs."
    )
    blob = models.ForeignKey(Blob, null=True, on_delete=models.PROTECT, help_text="The content of the file.")

    options = models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode.")

    class Meta:
        abstract = True

    def local_file(self) -> AbstractContextManager[Path]:
        """Return a context that provides the job's file on this machine. Raises OSError."""
        return contents.local_file(self.blob) if self.blob else nullcontext(self._former_copy)

    @property
    def _former_copy(self) -> Path:
        return Path(settings.UPLOADS_DIR) / self.file

    @property
    def has_content(self) -> bool:
        return self.blob_id is not None or bool(self.file and self._former_copy.exists())

    @property
    def has_file(self) -> bool:
        """Return whether the file is stored or can be fetched again."""
        return self.has_content or bool(self.options.get("remote"))

    def release_content(self) -> None:
        """Release the file, because the job will not read it again. Unused blobs are deleted later."""
        if self.file:
            call_after_commit(self._former_copy.unlink, missing_ok=True)
        contents.release([self.blob_id] if self.blob_id else [])
        self.file, self.blob = "", None
        self.save(update_fields=["file", "blob"])
