"""A fulfillment's lines: how many pieces of what, and where they are."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from catalog.models import Variant

COUNTS = ["reserved", "shipped", "rejected", "canceled", "returned", "cancel_requested"]


class FulfillmentLine(models.Model):
    """A number of units of one variant for one order line; `open` units are not shipped or refused yet.

    The agreed values (`fulfillments.planning.routing.Agreed`) never change after the line is created, even
    if the variant changes.
    """

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="lines"
    )
    order_line = models.ForeignKey(
        "orders.OrderLine", on_delete=models.PROTECT, related_name="fulfillment_lines"
    )
    variant = models.ForeignKey(Variant, on_delete=models.PROTECT, related_name="+")
    sku = models.CharField(max_length=100)
    upc = models.CharField(max_length=14, blank=True)
    title = models.CharField(max_length=500)
    wholesale_price = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    quantity = models.PositiveIntegerField()
    reserved = models.PositiveIntegerField(
        default=0, help_text="Of what is open, what stock was set aside for."
    )
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    cancel_requested = models.PositiveIntegerField(default=0)
    is_short = models.GeneratedField(
        # Taken away, not added up: what is set aside may be asked back, too, and the sum have no room.
        expression=Q(
            cancel_requested__lt=F("quantity") - F("shipped") - F("rejected") - F("canceled") - F("reserved")
        ),  # type: ignore[arg-type]  # the stubs forget conditions
        output_field=models.BooleanField(),
        db_persist=True,
        help_text="Whether some of it still lacks stock and was not asked back.",
    )
    behind = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether it came when what was in stock was owed to lines that no supplier had: such lines "
        "of older orders are served before it.",
    )

    class Meta:
        ordering = ["id"]
        # Over the flag, as the counts move with every parcel.
        indexes = [models.Index("variant", condition=Q(is_short=True), name="fulfillment_line_short")]
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
        return f"{self.quantity} × {self.sku}"

    @property
    def counts(self) -> tuple[int, ...]:
        """Where its pieces are: what moves change."""
        return tuple(getattr(self, name) for name in COUNTS)

    @property
    def open(self) -> int:
        return self.quantity - self.shipped - self.rejected - self.canceled

    @property
    def askable(self) -> int:
        """Of what is open, what the retailer has not asked back yet."""
        return self.open - self.cancel_requested

    @property
    def short(self) -> int:
        """Of what is open, what no stock was set aside for."""
        return self.open - self.reserved

    @property
    def owed(self) -> int:
        """Of what is short, what was not asked back: that waits for stock."""
        return max(self.short - self.cancel_requested, 0)

    @property
    def returnable(self) -> int:
        return self.shipped - self.returned
