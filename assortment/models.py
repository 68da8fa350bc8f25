"""What a retailer may sell: read from catalogue and stock; only the terms' changes are kept here."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class TermsChange(models.Model):
    """The terms of a supplier changed: for one retailer, or (retailer 0) its safety stock, for all.

    Written by triggers on partnerships and suppliers, so that no way of writing forgets it.
    """

    supplier_id = models.BigIntegerField()
    retailer_id = models.BigIntegerField()
    changed_in = models.BigIntegerField()
    changed_at = models.DateTimeField()
    closed = ArrayField(
        models.CharField(max_length=20), default=list, help_text="Service types that this change ended."
    )

    class Meta:
        ordering = ["id"]
        indexes = [models.Index("changed_in", name="terms_change_changed_in")]

    def __str__(self) -> str:
        return f"terms of supplier {self.supplier_id} for retailer {self.retailer_id}"
