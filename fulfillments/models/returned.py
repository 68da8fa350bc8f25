"""What came back after shipping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models
from django.db.models.functions import Now

from fulfillments.change import Change
from fulfillments.effects import Effects, StockEffect
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.mechanism import Outcome
from fulfillments.models.quantities import Quantities, as_items, spread
from inventory.models import MovementKind


class Return(models.Model):
    """Goods that came back after shipping."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="returns"
    )
    return_id = models.CharField(max_length=100, null=True, help_text="The supplier's own; seen once.")
    reason = models.CharField(max_length=500)
    # An item says under `restocked` how many of its pieces went into stock again, if any did.
    items = models.JSONField(default=list, help_text='What came back: [{"line": id, "quantity": n}]')
    returned_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("fulfillment", "return_id", name="return_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.return_id or ''}".strip()

    @property
    def not_restocked(self) -> Quantities:
        """What came back and did not go into stock."""
        return {
            item["line"]: item["quantity"] - item.get("restocked", 0)
            for item in self.items
            if item["quantity"] > item.get("restocked", 0)
        }

    def to_restock(self, lines: list[FulfillmentLine], asked: Sequence[Mapping[str, Any]]) -> Quantities:
        """Of what is asked to go back into stock, what came back with this return and has not gone yet."""
        came = {item["line"]: item["quantity"] for item in self.items}
        wanted = spread(lines, asked, lambda line: came.get(line.pk, 0), "return_lines")
        gone = {item["line"]: item.get("restocked", 0) for item in self.items}
        more = {pk: min(pieces, came.get(pk, 0)) - gone.get(pk, 0) for pk, pieces in wanted.items()}
        return {pk: pieces for pk, pieces in more.items() if pieces > 0}

    def restock(self, change: Change, lines: list[FulfillmentLine], quantities: Quantities) -> Outcome:
        """Put pieces of it back into stock."""
        if not quantities:
            return Outcome.UNCHANGED
        fulfillment = self.fulfillment
        for item in self.items:
            if pieces := quantities.get(item["line"]):
                item["restocked"] = item.get("restocked", 0) + pieces
        self.save(update_fields=["items"])
        back = [
            StockEffect(
                MovementKind.RETURN,
                (line.variant_id, fulfillment.warehouse_id),
                quantities[line.pk],
                0,
                fulfillment.pk,
                self.reason,
            )
            for line in lines
            if line.pk in quantities
        ]
        data = {"return_id": self.return_id, "items": as_items(quantities)}
        change.record("fulfillment.restocked", fulfillment=fulfillment, effects=Effects(back), data=data)
        return Outcome.DONE


def asked_to_restock(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [item for item in items if item.get("restock")]
