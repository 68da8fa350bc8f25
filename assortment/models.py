"""Changes of the terms on which suppliers sell. All other data of a pull comes from catalogue and stock."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class TermsChange(models.Model):
    """A change of a partnership, or of a supplier's safety stock or currency (with `retailer_id` 0).

    Database triggers on partnerships and suppliers write the rows, so no code can forget a row.
    """

    supplier_id = models.BigIntegerField()
    retailer_id = models.BigIntegerField()
    changed_in = models.BigIntegerField()
    changed_at = models.DateTimeField()
    closed = ArrayField(
        models.CharField(max_length=20), default=list, help_text="The service types that this change ended."
    )

    class Meta:
        ordering = ["id"]
        indexes = [models.Index("changed_in", name="terms_change_changed_in")]

    def __str__(self) -> str:
        return f"terms of supplier {self.supplier_id} for retailer {self.retailer_id}"
