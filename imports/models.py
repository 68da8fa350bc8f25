"""Import jobs: rows before anything else happens, true after any crash (contract 6)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Self

from django.conf import settings
from django.contrib.postgres.indexes import HashIndex
from django.core.validators import MaxValueValidator, MinValueValidator
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


# A worker that shows no sign of life for so long has lost its job to the next one.
LEASE = timedelta(seconds=8)
COUNTERS = ("rows_done", "created", "updated", "unchanged", "rejected", "duplicates")


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)

    def unreported(self) -> Self:
        """Those that have come to rest, and whose supplier was not told yet."""
        return self.filter(reported_at=None).exclude(status__in=[Status.QUEUED, Status.RUNNING])

    def unfinished(self) -> Self:
        """Those that a worker has, or that wait for one."""
        return self.filter(status__in=[Status.QUEUED, Status.RUNNING])


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

    bookmark = models.BigIntegerField(default=0, help_text="The last line of the file that is merged.")
    header = models.JSONField(default=list, editable=False, help_text="The file's columns.")
    delimiter = models.CharField(max_length=1, default=",", editable=False)
    staged = models.BigIntegerField(null=True, editable=False, help_text="The rows in the staging table.")
    last_line = models.BigIntegerField(default=0, editable=False)
    owner = models.CharField(max_length=100, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveIntegerField(default=0, editable=False)
    cancel_requested = models.BooleanField(default=False, editable=False)
    created_by = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField(null=True, editable=False, help_text="When its supplier was told.")

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index("supplier", "kind", "id", name="import_of_supplier"),
            models.Index("id", condition=Q(status__in=["queued", "running"]), name="import_unfinished"),
            models.Index(
                "id",
                condition=Q(reported_at=None) & ~Q(status__in=["queued", "running"]),
                name="import_unreported",
            ),
            # What operators look for among a million: by status, dry runs, and a file by its whole path.
            models.Index("status", "id", name="import_in_status"),
            models.Index("id", condition=Q(dry_run=True), name="import_dry_run"),
            HashIndex("source", name="import_source"),
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

    @property
    def path(self) -> Path:
        """The job's own copy of the file."""
        return Path(settings.UPLOADS_DIR) / self.file

    @property
    def area(self) -> str:
        """The scope that covers it: `catalog` or `inventory`."""
        return "catalog" if self.kind == Kind.PRODUCTS else "inventory"


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


class ImportPolicy(models.Model):
    """When a supplier's import waits for a person: the brake (contract 12)."""

    supplier = models.OneToOneField(Supplier, on_delete=models.CASCADE, related_name="import_policy")
    zeroed_share = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        default=Decimal("0.3"),
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A full stock file that would set more than this share of the stocked variants to 0 waits.",
    )
    zeroed_least = models.PositiveIntegerField(
        default=100, help_text="And more than this many variants; below, it does not wait."
    )
    zeroed_in_delta = models.BooleanField(default=False, help_text="Look at delta files likewise.")
    delisted_share = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="A product file that would delist more than this share of the listed variants waits.",
    )
    price_factor = models.DecimalField(
        max_digits=8,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="A product file that would move a retail price up or down by more than this factor waits.",
    )

    class Meta:
        verbose_name_plural = "import policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(zeroed_share__gte=0, zeroed_share__lte=1)
                & (Q(delisted_share=None) | Q(delisted_share__gte=0, delisted_share__lte=1))
                & (Q(price_factor=None) | Q(price_factor__gte=1)),
                name="import_policy_sane",
            )
        ]

    def __str__(self) -> str:
        return f"Import policy of {self.supplier}"

    @classmethod
    def of(cls, supplier_id: int) -> ImportPolicy:
        """The supplier's policy; the default one, unsaved, where it has none of its own."""
        return cls.objects.filter(supplier_id=supplier_id).first() or cls(supplier_id=supplier_id)


class AutoImport(models.Model):
    """What becomes of a file that is put into `products/` or `inventory/`: its job, with this mapping."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="auto_imports")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    enabled = models.BooleanField(default=True)
    options = models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode.")

    class Meta:
        constraints = [
            models.UniqueConstraint("supplier", "kind", name="auto_import_once"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="auto_import_kind"),
        ]

    def __str__(self) -> str:
        return f"Automatic {self.kind} import of {self.supplier}"
