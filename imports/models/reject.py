from __future__ import annotations

from django.db import models

from imports.models.job import ImportJob


class Reject(models.Model):
    """A row of the file that did not land, and why."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejects")
    line = models.BigIntegerField(help_text="The physical line on which the record starts; the header is 1.")
    field = models.CharField(max_length=200, blank=True)
    code = models.CharField(max_length=50)
    message = models.CharField(max_length=500)
    cells = models.JSONField(default=list, help_text="The record as the file had it.")

    class Meta:
        ordering = ["line", "id"]
        indexes = [models.Index("job", "line", "id", name="reject_of_job")]

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"
