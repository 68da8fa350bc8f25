from __future__ import annotations

from django.db import models

from accounts.models import Supplier
from imports.models.kind import choices


class AutoImport(models.Model):
    """The settings of a supplier's automatic imports from the folder of one kind."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="auto_imports")
    kind = models.CharField(max_length=20, choices=choices)
    enabled = models.BooleanField(default=True)
    options = models.JSONField(default=dict, help_text="Mapping, transformer, warehouse, mode.")

    class Meta:
        verbose_name = "automatic import"
        constraints = [models.UniqueConstraint("supplier", "kind", name="auto_import_once")]

    def __str__(self) -> str:
        return f"Automatic {self.kind} import of {self.supplier}"
