"""Import jobs: rows before anything else happens, true after any crash (contract 6)."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import Supplier


class Kind(models.TextChoices):
    PRODUCTS = "products"
    INVENTORY = "inventory"


class Status(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    SUCCEEDED = "succeeded"
    SUCCEEDED_WITH_ERRORS = "succeeded_with_errors"
    FAILED = "failed"
    CANCELED = "canceled"


FINISHED = (Status.SUCCEEDED, Status.SUCCEEDED_WITH_ERRORS, Status.FAILED, Status.CANCELED)


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)


class ImportJob(models.Model):
    """One file's way into the catalogue or the stock.

    `created + updated + unchanged + rejected + duplicates = rows_total` once it has ended well.
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="import_jobs")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    status = models.CharField(max_length=30, choices=Status.choices, default=Status.QUEUED)
    source = models.CharField(max_length=1000, help_text="What was asked for: a path, a URL, or data.")
    file = models.CharField(
        max_length=500, blank=True, help_text="The job's own copy of the file, within the uploads folder."
    )
    options = models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode.")
    dry_run = models.BooleanField(default=False)
    approved_at = models.DateTimeField(null=True, editable=False)

    rows_total = models.BigIntegerField(null=True)
    rows_done = models.BigIntegerField(default=0)
    created = models.BigIntegerField(default=0)
    updated = models.BigIntegerField(default=0)
    unchanged = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    duplicates = models.BigIntegerField(default=0)
    warnings = models.JSONField(default=list)
    ignored_columns = models.JSONField(default=list)
    report = models.JSONField(default=dict, help_text="What a dry run or the brake found.")
    error = models.JSONField(null=True, help_text='Why it failed: {"code", "message"}')

    bookmark = models.BigIntegerField(default=0, help_text="The last staged row that is merged.")
    owner = models.CharField(max_length=100, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveIntegerField(default=0, editable=False)
    cancel_requested = models.BooleanField(default=False, editable=False)
    created_by = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("supplier", "kind", "id", name="import_of_supplier"),
            models.Index("id", condition=Q(status__in=["queued", "running"]), name="import_unfinished"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="import_kind"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="import_status"),
            models.UniqueConstraint(
                F("supplier"), F("kind"), condition=Q(status="running"), name="import_one_running_of_a_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} import {self.pk}"


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
