from __future__ import annotations

from django.db import models

from imports.models.job import ImportJob


class Reject(models.Model):
    """A rejected row of the file, with the reason."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejects")
    line = models.BigIntegerField(
        help_text="The physical line where the record starts; the header is line 1."
    )
    field = models.CharField(max_length=200, blank=True)
    code = models.CharField(max_length=50)
    message = models.CharField(max_length=500)
    cells = models.JSONField(default=list, help_text="The cells as they are in the file.")

    class Meta:
        ordering = ["line", "id"]
        indexes = [models.Index("job", "line", "id", name="reject_of_job")]

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"
