from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from sftp_ingest.models import Blob


class UploadChunk(models.Model):
    """A chunk of a file that a browser is uploading, deleted when the file is complete or after a day."""

    person = models.CharField(max_length=200, help_text="The name of the sender; no one else can add chunks.")
    upload = models.UUIDField(help_text="The number of the upload, given by its page.")
    place = models.PositiveIntegerField(help_text="The position in the file; the first chunk is 0.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "imports_uploadpiece"
        indexes = [models.Index("created_at", name="upload_piece_by_time")]
        constraints = [models.UniqueConstraint("person", "upload", "place", name="upload_piece_once")]

    def __str__(self) -> str:
        return f"chunk {self.place} of {self.upload}"
