from __future__ import annotations

from collections import Counter
from typing import Self

from django.db import models
from django.db.models.functions import Now


class RejectionQuerySet(models.QuerySet["Rejection"]):
    def of_supplier(self, order_id: int, supplier_id: int) -> Self:
        return self.filter(fulfillment__order_id=order_id, fulfillment__supplier_id=supplier_id)

    def end(self) -> int:
        """End these rejections, so that routing asks their suppliers again. Return their number."""
        return self.filter(ended_at=None).update(ended_at=Now())

    def units(self) -> Counter[int]:
        """Return the rejected units by the id of the fulfillment's line."""
        units = Counter[int]()
        for items in self.values_list("items", flat=True):
            units.update({item["line"]: item["quantity"] for item in items})
        return units


class Rejection(models.Model):
    """A supplier's rejection of a fulfillment or of some units, or an operator's reassignment of units."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="rejections"
    )
    reject_id = models.CharField(
        max_length=100, null=True, help_text="The supplier's own id; a repeated id is ignored."
    )
    reason = models.CharField(max_length=30)
    items = models.JSONField(default=list, help_text='The rejected units: [{"line": id, "quantity": n}]')
    rejected_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When an operator asked the supplier again, or the address was corrected or confirmed.",
    )

    objects = RejectionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("fulfillment", "reject_id", name="rejection_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.reject_id or ''}".strip()
