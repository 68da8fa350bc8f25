from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from api.errors import InvalidTransition
from api.prefix_search import folded
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.mechanism import check_same
from fulfillments.models.quantities import Quantities, by_variant, in_words


class Shipment(models.Model):
    """A supplier's parcel with one tracking number."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="shipments"
    )
    tracking_number = models.CharField(max_length=100)
    carrier = models.CharField(max_length=100, blank=True)
    shipped_at = models.DateTimeField(db_default=Now())
    items = models.JSONField(default=list, help_text='The units in the parcel: [{"line": id, "quantity": n}]')

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(folded("tracking_number"), name="shipment_tracking_folded")]
        constraints = [
            models.UniqueConstraint("fulfillment", "tracking_number", name="shipment_once"),
            models.CheckConstraint(condition=~Q(tracking_number=""), name="shipment_has_tracking"),
        ]

    def __str__(self) -> str:
        return self.tracking_number

    def check_repeated(
        self, carrier: str, quantities: Quantities | None, lines: list[FulfillmentLine]
    ) -> None:
        """Raise InvalidTransition if a repeated call has another carrier or other units."""
        check_same("carrier", self.carrier, carrier)
        shipped = {item["line"]: item["quantity"] for item in self.items}
        if quantities is not None and by_variant(lines, quantities) != by_variant(lines, shipped):
            before, now = in_words(lines, shipped), in_words(lines, quantities)
            raise InvalidTransition(
                f"The parcel {self.tracking_number} was shipped before with {before}; "
                f"it cannot be repeated with {now}."
            )
