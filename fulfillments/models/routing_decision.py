"""Why orders were routed as they were."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class RoutingDecision(models.Model):
    """Why an order's lines went where they went: the candidates, and what spoke for or against each."""

    order = models.ForeignKey("orders.Order", on_delete=models.CASCADE, related_name="routing_decisions")
    decided_at = models.DateTimeField(db_default=Now())
    cause = models.CharField(max_length=200, help_text="The push, or the refusal, that asked for it.")
    lines = models.JSONField(default=list)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.cause
