from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models import Supplier
from imports.models.kind import Kind


class AutoImport(models.Model):
    """The settings by which files in a supplier's `products/` or `inventory/` folder are imported."""

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
