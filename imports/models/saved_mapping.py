from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Supplier
from imports.models.kind import choices


class SavedMapping(models.Model):
    """A named mapping of a supplier's files. The built-in mappings are not stored as rows."""

    supplier = models.ForeignKey(Supplier, on_delete=models.CASCADE, related_name="saved_mappings")
    kind = models.CharField(max_length=20, choices=choices)
    name = models.CharField(max_length=50)
    options = models.JSONField(default=dict, help_text="Columns, transformer, and the options of rows.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("supplier", "name", name="saved_mapping_once"),
            models.CheckConstraint(condition=Q(id__gte=1000), name="saved_mapping_beyond_built_in"),
        ]

    def __str__(self) -> str:
        return f"Mapping {self.name} of {self.supplier}"
