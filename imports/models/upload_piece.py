from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from sftp_ingest.models import Blob


class UploadPiece(models.Model):
    """A piece of a file on its way from a browser; gone once the file is whole, or after a day."""

    person = models.CharField(max_length=200, help_text="Who sends it: nobody else adds to it.")
    upload = models.UUIDField(help_text="Of which file: a number that its page was given.")
    place = models.PositiveIntegerField(help_text="Its place in the file; the first is 0.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index("created_at", name="upload_piece_by_time")]
        constraints = [models.UniqueConstraint("person", "upload", "place", name="upload_piece_once")]

    def __str__(self) -> str:
        return f"piece {self.place} of {self.upload}"
