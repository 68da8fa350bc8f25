"""Orders: what a retailer wants, and what became of each line (contract 4)."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import Retailer


class ProcessingState(models.TextChoices):
    """Derived from the lines and fulfillments, in the change's own transaction."""

    RECEIVED = "received"
    PROCESSING = "processing"
    PARTIALLY_SHIPPED = "partially_shipped"
    EXCEPTION = "exception"
    CANCELING = "canceling"
    COMPLETED = "completed"
    CANCELED = "canceled"


class OrderType(models.TextChoices):
    DROPSHIP = "dropship"
    REPLENISH = "replenish"


class RetailerClock(models.Model):
    """A retailer's last `updated_at`, and how many of its orders there are of each kind.

    Locked last, from the stamp to the commit: so stamps become visible in ascending order, and never tie.
    """

    retailer = models.OneToOneField(
        Retailer, on_delete=models.CASCADE, primary_key=True, related_name="clock"
    )
    last = models.DateTimeField(db_default=Now())
    completed = models.BigIntegerField(default=0)
    canceled = models.BigIntegerField(default=0)
    pending = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(completed__gte=0, canceled__gte=0, pending__gte=0), name="clock_counts"
            )
        ]

    def __str__(self) -> str:
        return f"clock of {self.retailer_id}"


class OrderQuerySet(models.QuerySet["Order"]):
    def for_retailer(self, retailer: Retailer) -> Self:
        return self.filter(retailer=retailer)


class Order(models.Model):
    """One order of one retailer."""

    retailer = models.ForeignKey(Retailer, on_delete=models.PROTECT, related_name="orders")
    retailer_order_id = models.CharField(max_length=100)
    type = models.CharField(max_length=20, choices=OrderType.choices, default=OrderType.DROPSHIP)
    id_in_source = models.CharField(max_length=100, blank=True)
    billing_address = models.JSONField(default=dict)
    shipping_address = models.JSONField(default=dict)
    shipping_method_code = models.CharField(max_length=100, blank=True)
    shipping_paid = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    shipping_tax = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    sales_division_code = models.CharField(max_length=100, blank=True)
    sales_order_number = models.CharField(max_length=100, blank=True)
    gift_message = models.TextField(blank=True)
    is_gift = models.BooleanField(default=False)
    ship_until = models.DateField(null=True)
    original_created_at = models.DateField(null=True)
    notes = models.JSONField(default=list)
    content_digest = models.CharField(max_length=64, editable=False)

    held = models.BooleanField(
        default=False, help_text="Not to be captured yet: its fulfillments are pending."
    )
    processing_state = models.CharField(
        max_length=20, choices=ProcessingState.choices, default=ProcessingState.RECEIVED, editable=False
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint("retailer", "retailer_order_id", name="order_once"),
            models.UniqueConstraint("retailer", "updated_at", name="order_stamp_once"),
            models.CheckConstraint(
                condition=Q(processing_state__in=ProcessingState.values), name="order_state"
            ),
            models.CheckConstraint(condition=Q(type__in=OrderType.values), name="order_type"),
        ]
        indexes = [
            models.Index("retailer", "processing_state", "updated_at", name="order_by_state"),
            models.Index(
                "processing_state",
                "id",
                condition=~Q(processing_state__in=["completed", "canceled"]),
                name="order_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.retailer_order_id} ({self.processing_state})"


class OrderLine(models.Model):
    """One line of an order: quantity = open + shipped + rejected + canceled, always.

    `open` is with suppliers; `rejected` is what was refused and nobody else has taken.
    """

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    position = models.PositiveIntegerField()
    sku = models.CharField(max_length=100, blank=True)
    upc = models.CharField(max_length=14, blank=True)
    asked_supplier_id = models.BigIntegerField(null=True, help_text="The supplier_id that was pushed.")
    asked_variant_id = models.BigIntegerField(null=True, help_text="The variant_id that was pushed.")
    quantity = models.PositiveIntegerField()
    billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    tax_billed_amount = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    notes = models.JSONField(default=list)

    open = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    dropped = models.PositiveIntegerField(
        default=0, help_text="Of what is canceled, what no supplier held any more."
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("order", "position", name="order_line_once"),
            models.CheckConstraint(
                condition=Q(quantity__gt=0)
                & Q(quantity=F("open") + F("shipped") + F("rejected") + F("canceled"))
                & Q(open__gte=F("reserved")),
                name="order_line_adds_up",
            ),
            models.CheckConstraint(condition=Q(canceled__gte=F("dropped")), name="order_line_dropped"),
        ]

    def __str__(self) -> str:
        return f"line {self.position} of order {self.order_id}"

    @property
    def pinned(self) -> bool:
        """Whether the retailer chose the supplier; such a line is never routed elsewhere."""
        return self.asked_supplier_id is not None or self.asked_variant_id is not None
