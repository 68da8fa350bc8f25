from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Supplier
from imports.models.kind import Kind
from sftp_ingest.models import Blob


class ImportDraft(models.Model):
    """A file that an operator uploaded in the browser and that is not imported yet, with its mapping."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="import_drafts")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    name = models.CharField(max_length=200, help_text="The file's name on the operator's machine.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    body = models.JSONField(default=dict, help_text="The import's options, in the form of an API request.")
    jobs = models.ManyToManyField(
        "imports.ImportJob", related_name="drafts", help_text="Dry runs and imports of this file."
    )
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("created_at", name="import_draft_by_time")]
        constraints = [models.CheckConstraint(condition=Q(kind__in=Kind.values), name="import_draft_kind")]

    def __str__(self) -> str:
        return f"{self.name} of {self.supplier}"
