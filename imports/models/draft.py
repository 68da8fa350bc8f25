from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Supplier
from imports.models.kind import Kind
from sftp_ingest.models import Blob


class ImportDraft(models.Model):
    """A file that an operator has uploaded in the browser, and how it will be read: not imported yet."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="import_drafts")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    name = models.CharField(max_length=200, help_text="The file's, as it was on the operator's machine.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    body = models.JSONField(default=dict, help_text="How it is read, as a request of the API would say it.")
    jobs = models.ManyToManyField(
        "imports.ImportJob", related_name="drafts", help_text="What was made of it."
    )
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("created_at", name="import_draft_by_time")]
        constraints = [models.CheckConstraint(condition=Q(kind__in=Kind.values), name="import_draft_kind")]

    def __str__(self) -> str:
        return f"{self.name} of {self.supplier}"
