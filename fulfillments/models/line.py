"""The lines of a fulfillment, with counts of their units."""

from __future__ import annotations

from django.db import models
from django.db.models import F, OuterRef, Q, Subquery, Sum

from catalog.models import Variant

COUNTS = ["reserved", "shipped", "rejected", "canceled", "returned", "cancel_requested"]


class FulfillmentLine(models.Model):
    """A number of units of one variant for one order line.

    A unit is open until it is shipped, rejected or canceled. The agreed values
    (`fulfillments.planning.routing.Agreed`) do not change after the line is created, even if the variant
    changes.
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
    reserved = models.PositiveIntegerField(default=0, help_text="Open units that have stock reserved.")
    shipped = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    canceled = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    cancel_requested = models.PositiveIntegerField(default=0)
    is_short = models.GeneratedField(
        # Subtract instead of adding: `cancel_requested` may overlap `reserved`, and the sum could overflow
        # the column.
        expression=Q(
            cancel_requested__lt=F("quantity") - F("shipped") - F("rejected") - F("canceled") - F("reserved")
        ),  # type: ignore[arg-type]  # the stubs allow no conditions
        output_field=models.BooleanField(),
        db_persist=True,
        help_text="Whether some open units have no stock reserved and no cancellation requested.",
    )
    behind = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether unrouted lines of older orders get arriving stock before this line.",
    )

    class Meta:
        ordering = ["id"]
        # Use the flag `is_short` as the condition. The counts change with every parcel, and a condition that
        # names them would force PostgreSQL to write the index each time.
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
        """The values of all counters that a move can change."""
        return tuple(getattr(self, name) for name in COUNTS)

    @property
    def open(self) -> int:
        return self.quantity - self.shipped - self.rejected - self.canceled

    @property
    def cancelable(self) -> int:
        """The open units whose cancellation can still be requested."""
        return self.open - self.cancel_requested

    @property
    def short(self) -> int:
        """The open units without reserved stock."""
        return self.open - self.reserved

    @property
    def backordered(self) -> int:
        """The short units that wait for stock, less the units whose cancellation is requested."""
        return max(self.short - self.cancel_requested, 0)

    @property
    def returnable(self) -> int:
        return self.shipped - self.returned


def agreed_total_of_lines() -> Subquery:
    """Return a subquery with the sum of the agreed prices of all units of the outer query's fulfillment."""
    lines = FulfillmentLine.objects.filter(fulfillment=OuterRef("pk")).order_by().values("fulfillment")
    return Subquery(lines.annotate(sum=Sum(F("quantity") * F("wholesale_price"))).values("sum"))
