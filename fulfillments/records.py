"""What is kept of a fulfillment's life: captures, parcels, refusals, returns, and why it was routed so."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Capture(models.Model):
    """When a fulfillment was first handed to its supplier. A table of its own: capturing locks nothing."""

    fulfillment = models.OneToOneField(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="capture", primary_key=True
    )
    captured_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.fulfillment_id} at {self.captured_at}"


class Shipment(models.Model):
    """One parcel."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="shipments"
    )
    tracking_number = models.CharField(max_length=100)
    carrier = models.CharField(max_length=100, blank=True)
    shipped_at = models.DateTimeField(db_default=Now())
    items = models.JSONField(default=list, help_text='What is in it: [{"line": id, "quantity": n}]')

    class Meta:
        ordering = ["id"]
        indexes = [models.Index("tracking_number", name="shipment_tracking")]
        constraints = [
            models.UniqueConstraint("fulfillment", "tracking_number", name="shipment_once"),
            models.CheckConstraint(condition=~Q(tracking_number=""), name="shipment_has_tracking"),
        ]

    def __str__(self) -> str:
        return self.tracking_number


class Rejection(models.Model):
    """A supplier's refusal, of all or of part."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="rejections"
    )
    reject_id = models.CharField(max_length=100, null=True, help_text="The supplier's own; seen once.")
    reason = models.CharField(max_length=30)
    items = models.JSONField(default=list, help_text='What was refused: [{"line": id, "quantity": n}]')
    rejected_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("fulfillment", "reject_id", name="rejection_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.reject_id or ''}".strip()


class Return(models.Model):
    """Goods that came back after shipping."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="returns"
    )
    return_id = models.CharField(max_length=100, null=True, help_text="The supplier's own; seen once.")
    reason = models.CharField(max_length=500)
    items = models.JSONField(default=list, help_text='What came back: [{"line": id, "quantity": n}]')
    returned_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("fulfillment", "return_id", name="return_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.return_id or ''}".strip()


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
