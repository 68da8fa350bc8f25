"""Fulfillments: what one supplier ships from one warehouse for one order (contract 3)."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import Partnership, Supplier
from catalog.models import Variant
from fulfillments.states import CAPTURABLE, WORKABLE, State
from inventory.models import Warehouse


class FulfillmentQuerySet(models.QuerySet["Fulfillment"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(supplier=supplier)


class Fulfillment(models.Model):
    """The work that one supplier has with one order."""

    order = models.ForeignKey("orders.Order", on_delete=models.PROTECT, related_name="fulfillments")
    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="fulfillments")
    partnership = models.ForeignKey(Partnership, on_delete=models.PROTECT, related_name="+")
    warehouse = models.ForeignKey(Warehouse, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=30, choices=State.choices, default=State.NEW, editable=False)
    state_before_cancel = models.CharField(max_length=30, blank=True, editable=False)
    tracking_number = models.CharField(max_length=100, blank=True, help_text="As given on accept.")
    invoice_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = FulfillmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index("supplier", "id", name="fulfillment_of_supplier"),
            models.Index(
                "supplier", "id", condition=Q(state__in=[*CAPTURABLE]), name="fulfillment_capturable"
            ),
            models.Index("supplier", "id", condition=Q(state=State.CANCELING), name="fulfillment_canceling"),
            models.Index(
                "state",
                "id",
                condition=Q(state__in=[*WORKABLE, State.CANCELING, State.WRONG_ADDRESS]),
                name="fulfillment_open",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="fulfillment_state"),
        ]

    def __str__(self) -> str:
        return f"fulfillment {self.pk} ({self.state})"


class FulfillmentLine(models.Model):
    """How much of one variant for one order line; `open` is what is still to be shipped or refused."""

    fulfillment = models.ForeignKey(Fulfillment, on_delete=models.CASCADE, related_name="lines")
    order_line = models.ForeignKey("orders.OrderLine", on_delete=models.PROTECT, related_name="parts")
    variant = models.ForeignKey(Variant, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField()
    reserved = models.PositiveIntegerField(
        default=0, help_text="Of what is open, what stock was set aside for."
    )
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    cancel_requested = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(quantity__gt=0)
                & Q(quantity__gte=F("shipped") + F("rejected") + F("canceled") + F("reserved")),
                name="fulfillment_line_adds_up",
            ),
            models.CheckConstraint(
                condition=Q(
                    quantity__gte=F("shipped") + F("rejected") + F("canceled") + F("cancel_requested")
                ),
                name="fulfillment_line_cancelable",
            ),
            models.CheckConstraint(
                condition=Q(shipped__gte=F("returned")), name="fulfillment_line_returned_of_shipped"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.variant_id}"

    @property
    def open(self) -> int:
        return self.quantity - self.shipped - self.rejected - self.canceled


class Capture(models.Model):
    """When a fulfillment was first handed to its supplier. A table of its own: capturing locks nothing."""

    fulfillment = models.OneToOneField(
        Fulfillment, on_delete=models.CASCADE, related_name="capture", primary_key=True
    )
    captured_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.fulfillment_id} at {self.captured_at}"


class Shipment(models.Model):
    """One parcel."""

    fulfillment = models.ForeignKey(Fulfillment, on_delete=models.CASCADE, related_name="shipments")
    tracking_number = models.CharField(max_length=100)
    carrier = models.CharField(max_length=100, blank=True)
    shipped_at = models.DateTimeField(db_default=Now())
    items = models.JSONField(default=list, help_text='What is in it: [{"line": id, "quantity": n}]')

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("fulfillment", "tracking_number", name="shipment_once"),
            models.CheckConstraint(condition=~Q(tracking_number=""), name="shipment_has_tracking"),
        ]

    def __str__(self) -> str:
        return self.tracking_number


class Rejection(models.Model):
    """A supplier's refusal, of all or of part."""

    fulfillment = models.ForeignKey(Fulfillment, on_delete=models.CASCADE, related_name="rejections")
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

    fulfillment = models.ForeignKey(Fulfillment, on_delete=models.CASCADE, related_name="returns")
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
