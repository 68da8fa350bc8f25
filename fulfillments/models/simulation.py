"""What a rule of routing would have done to past orders: asked by an operator, answered by a worker."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Retailer, Supplier


class RoutingSimulation(models.Model):
    """A rule, the orders that it is tried on, and how far that is. Nothing of an order is written.

    Decisions are looked at from the newest on, by their numbers: `position` is the last one that was.
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="+")
    retailer = models.ForeignKey(
        Retailer, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Empty: all."
    )
    priority = models.SmallIntegerField(null=True, blank=True, help_text="Empty: as it is.")
    safety_stock = models.PositiveIntegerField(
        null=True, blank=True, help_text="Pieces per variant and warehouse. Empty: as it is."
    )
    left_out = models.BooleanField(
        default=False, help_text="As if it were suspended: nothing is routed to it."
    )
    first_day = models.DateField(help_text="Orders from this day on (UTC).")
    last_day = models.DateField(help_text="To the end of this day.")
    most = models.PositiveIntegerField(help_text="At most so many orders, the newest of these days.")
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    first_number = models.BigIntegerField(null=True)
    begin_at = models.BigIntegerField(null=True)
    position = models.BigIntegerField(null=True)
    result = models.JSONField(default=dict)
    stopped_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True, help_text="Until when a worker has it.")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("id", condition=Q(finished_at=None), name="routing_simulation_open")]

    def __str__(self) -> str:
        return f"{self.supplier}: {self.rule}"

    @property
    def rule(self) -> str:
        """The rule in words."""
        parts = ["left out"] if self.left_out else []
        parts += [] if self.priority is None else [f"priority {self.priority}"]
        parts += [] if self.safety_stock is None else [f"safety stock {self.safety_stock}"]
        return ", ".join(parts)

    @property
    def percent(self) -> int:
        """How much of it is done: of the orders that were asked for, or of the days."""
        if self.finished_at:
            return 100
        if self.begin_at is None or self.position is None or self.first_number is None:
            return 0
        of_days = (self.begin_at - self.position) / max(self.begin_at - self.first_number, 1)
        of_orders = self.looked_at / max(self.most, 1)
        return min(99, int(100 * max(of_days, of_orders)))

    @property
    def looked_at(self) -> int:
        """How many orders were looked at."""
        found: Any = self.result.get("orders", 0)
        return int(found)
