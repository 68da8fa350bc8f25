from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class RoutingDecision(models.Model):
    """One routing of an order's lines: the candidates, and why each candidate was chosen or not."""

    order = models.ForeignKey("orders.Order", on_delete=models.CASCADE, related_name="routing_decisions")
    decided_at = models.DateTimeField(db_default=Now())
    cause = models.CharField(
        max_length=200, help_text="The push, rejection or arrival that caused the routing."
    )
    lines = models.JSONField(default=list)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.cause
