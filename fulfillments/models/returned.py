from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Retailer, Supplier
from fulfillments.change import Change
from fulfillments.effects import Effects, StockEffect
from fulfillments.models.line import FulfillmentLine
from fulfillments.models.mechanism import MoveOutcome
from fulfillments.models.quantities import Quantities, as_items, spread
from inventory.models import MovementKind


def _copied_party(party: type[Supplier | Retailer]) -> Any:
    return models.ForeignKey(
        party,
        models.DO_NOTHING,
        null=True,
        editable=False,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )


class Return(models.Model):
    """Shipped units that came back from the consumer."""

    fulfillment = models.ForeignKey(
        "fulfillments.Fulfillment", on_delete=models.CASCADE, related_name="returns"
    )
    return_id = models.CharField(
        max_length=100, null=True, help_text="The supplier's own id; a repeated id is ignored."
    )
    reason = models.CharField(max_length=500)
    # The key `restocked` of an item is the number of its units that are back in stock.
    items = models.JSONField(default=list, help_text='The returned units: [{"line": id, "quantity": n}]')
    returned_at = models.DateTimeField(db_default=Now())
    # A trigger copies both parties from the partnership. Lists of returns need an index by party.
    supplier = _copied_party(Supplier)
    retailer = _copied_party(Retailer)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index("supplier", "id", name="return_to_supplier"),
            models.Index("retailer", "id", name="return_of_retailer"),
            models.Index("return_id", condition=Q(return_id__isnull=False), name="return_by_number"),
        ]
        constraints = [models.UniqueConstraint("fulfillment", "return_id", name="return_once")]

    def __str__(self) -> str:
        return f"{self.reason} {self.return_id or ''}".strip()

    @property
    def not_restocked(self) -> Quantities:
        """The returned units that are not back in stock."""
        return {
            item["line"]: item["quantity"] - item.get("restocked", 0)
            for item in self.items
            if item["quantity"] > item.get("restocked", 0)
        }

    def to_restock(self, lines: list[FulfillmentLine], items: Sequence[Mapping[str, object]]) -> Quantities:
        """Return the units of these items that are part of this return and are not back in stock."""
        returned = {item["line"]: item["quantity"] for item in self.items}
        restock = spread(lines, items, lambda line: returned.get(line.pk, 0), "return_lines")
        restocked = {item["line"]: item.get("restocked", 0) for item in self.items}
        more = {pk: min(units, returned.get(pk, 0)) - restocked.get(pk, 0) for pk, units in restock.items()}
        return {pk: units for pk, units in more.items() if units > 0}

    def restock(self, change: Change, lines: list[FulfillmentLine], quantities: Quantities) -> MoveOutcome:
        """Put units of this return back into stock."""
        if not quantities:
            return MoveOutcome.UNCHANGED
        fulfillment = self.fulfillment
        for item in self.items:
            if units := quantities.get(item["line"]):
                item["restocked"] = item.get("restocked", 0) + units
        self.save(update_fields=["items"])
        fulfillment.touch()
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
        return MoveOutcome.DONE


def items_to_restock(items: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [item for item in items if item.get("restock")]
