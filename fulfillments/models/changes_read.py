from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Supplier


class ChangesRead(models.Model):
    """The last event that a supplier has read in `orders/changed.csv`."""

    supplier = models.OneToOneField(
        Supplier, on_delete=models.CASCADE, primary_key=True, related_name="changes_read"
    )
    number = models.BigIntegerField(help_text="The event's number in the feed.")
    read_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"supplier {self.supplier_id} up to event {self.number}"
