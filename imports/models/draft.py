from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Supplier
from fastdb.leased import LeasedWork
from imports.models.kind import choices
from sftp_ingest.models import Blob


class ImportDraftQuerySet(models.QuerySet["ImportDraft"]):
    def not_imported(self) -> Self:
        """Return the drafts whose file no import has read; dry runs do not count."""
        return self.exclude(jobs__dry_run=False)


class ImportDraft(LeasedWork):
    """A file that an operator uploaded in the browser and that is not imported yet, with its mapping.

    A worker reads the first rows of a packed file. The page itself reads the first rows of a plain text file.
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="import_drafts")
    kind = models.CharField(max_length=20, choices=choices)
    name = models.CharField(max_length=200, help_text="The file's name on the operator's machine.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    body = models.JSONField(default=dict, help_text="The import's options, in the form of an API request.")
    jobs = models.ManyToManyField(
        "imports.ImportJob", related_name="drafts", help_text="Dry runs and imports of this file."
    )
    is_packed = models.BooleanField(
        default=False, db_default=False, help_text="A workbook or a packed file, which a worker reads."
    )
    is_suggested = models.BooleanField(
        default=True, db_default=True, help_text="Whether the body has had its first, suggested mapping."
    )
    sample = models.JSONField(null=True, help_text="The first rows, as the worker read them.")
    problem = models.TextField(
        blank=True, db_default="", help_text="The reason why the worker could not read the file."
    )
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = ImportDraftQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("created_at", name="import_draft_by_time")]

    @classmethod
    def to_do(cls) -> Q:
        return Q(is_packed=True, sample__isnull=True, problem="")

    @property
    def is_being_read(self) -> bool:
        """Return whether a worker still has to read the first rows."""
        return self.is_packed and self.sample is None and not self.problem

    def __str__(self) -> str:
        return f"{self.name} of {self.supplier}"
