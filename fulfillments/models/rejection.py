from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Rejection(models.Model):
    """A supplier's rejection of a fulfillment, or of some of its units."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="rejections"
    )
    reject_id = models.CharField(
        max_length=100, null=True, help_text="The supplier's own id; a repeated id is ignored."
    )
    reason = models.CharField(max_length=30)
    items = models.JSONField(default=list, help_text='The rejected units: [{"line": id, "quantity": n}]')
    rejected_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("fulfillment", "reject_id", name="rejection_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.reject_id or ''}".strip()
