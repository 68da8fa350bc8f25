"""Simulations of routing rules on past orders. An operator starts a simulation, and a worker runs it."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Retailer, Supplier
from fastdb.leased import LeasedWork


class RoutingSimulation(LeasedWork):
    """A simulated rule, its range of orders, and its progress. A simulation never writes an order.

    The worker reads routing decisions by id, newest first. `position` is the id of the last decision read.
    """

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="+")
    retailer = models.ForeignKey(
        Retailer,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: all retailers.",
    )
    priority = models.SmallIntegerField(null=True, blank=True, help_text="Empty: unchanged.")
    safety_stock = models.PositiveIntegerField(
        null=True, blank=True, help_text="Units per variant and warehouse. Empty: unchanged."
    )
    left_out = models.BooleanField(default=False, help_text="Simulate that the supplier is suspended.")
    first_day = models.DateField(help_text="Orders from this day on (UTC).")
    last_day = models.DateField(help_text="Orders up to the end of this day (UTC).")
    most = models.PositiveIntegerField(
        help_text="The largest number of orders; the newest of these days are used."
    )
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())
    first_number = models.BigIntegerField(null=True)
    begin_at = models.BigIntegerField(null=True)
    position = models.BigIntegerField(null=True)
    result = models.JSONField(default=dict)
    stopped_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True, editable=False, db_column="leased_until")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index("id", condition=Q(finished_at=None), name="routing_simulation_open")]

    @classmethod
    def to_do(cls) -> Q:
        return Q(finished_at=None)

    def __str__(self) -> str:
        return f"{self.supplier}: {self.rule}"

    @property
    def rule(self) -> str:
        parts = ["left out"] if self.left_out else []
        parts += [] if self.priority is None else [f"priority {self.priority}"]
        parts += [] if self.safety_stock is None else [f"safety stock {self.safety_stock}"]
        return ", ".join(parts)

    @property
    def percent(self) -> int:
        """The progress: the share of orders or of decisions that were read, whichever is larger."""
        if self.finished_at:
            return 100
        if self.begin_at is None or self.position is None or self.first_number is None:
            return 0
        of_days = (self.begin_at - self.position) / max(self.begin_at - self.first_number, 1)
        of_orders = self.looked_at / max(self.most, 1)
        return min(99, int(100 * max(of_days, of_orders)))

    @property
    def looked_at(self) -> int:
        orders: Any = self.result.get("orders", 0)
        return int(orders)
