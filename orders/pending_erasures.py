"""The unfinished searches for copies of erased personal texts."""

from __future__ import annotations

from django.db import models


class PendingErasure(models.Model):
    """The unfinished search for copies of the personal texts of an erased order."""

    order = models.OneToOneField(
        "orders.Order", on_delete=models.CASCADE, primary_key=True, related_name="pending_erasure"
    )
    texts = models.TextField(help_text="The former personal texts, encrypted.")
    step = models.CharField(max_length=50, blank=True, help_text="The kind of copies that is searched.")
    position = models.BigIntegerField(default=0, help_text="Where the search continues.")

    class Meta:
        app_label = "orders"

    def __str__(self) -> str:
        return f"erasure of order {self.order_id}"
