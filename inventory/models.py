"""What suppliers have: stock by warehouse, and what of it is promised (contract 7)."""

from __future__ import annotations

from typing import Self

from django.contrib.postgres.indexes import BrinIndex
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.actors import Actor
from accounts.models import Supplier
from catalog.models import Variant, this_transaction
from catalog.pulse import beat_after_commit
from events.recording import record


class Warehouse(models.Model):
    """A place that a supplier ships from."""

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT, related_name="warehouses")
    name = models.CharField(max_length=100)
    is_default = models.BooleanField(default=False, help_text="Takes what no warehouse has in stock.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["supplier_id", "id"]
        constraints = [
            models.UniqueConstraint(
                "supplier",
                "name",
                name="warehouse_name_once",
                violation_error_message="The supplier has another warehouse of this name.",
            ),
            models.UniqueConstraint(
                F("supplier"),
                condition=Q(is_default=True),
                name="warehouse_one_default",
                violation_error_message="Another warehouse is the supplier's default; change that one first.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class StockLevelQuerySet(models.QuerySet["StockLevel"]):
    def for_supplier(self, supplier: Supplier) -> Self:
        return self.filter(warehouse__supplier=supplier)


class StockLevel(models.Model):
    """The stock of one variant in one warehouse, in pieces."""

    variant = models.ForeignKey(Variant, on_delete=models.CASCADE, related_name="stock", db_index=False)
    warehouse = models.ForeignKey(Warehouse, on_delete=models.PROTECT, related_name="stock", db_index=False)
    on_hand = models.PositiveIntegerField(default=0)
    reserved = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(
        null=True, blank=True, help_text="When on_hand was counted, as the supplier said, or told."
    )
    overpromised = models.GeneratedField(
        expression=Q(reserved__gt=F("on_hand")),  # type: ignore[arg-type]  # the stubs forget conditions
        output_field=models.BooleanField(),
        db_persist=True,
    )
    changed_in = models.BigIntegerField(
        db_default=this_transaction(),
        editable=False,
        help_text="The transaction that last moved it; a trigger sees to it.",
    )
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = StockLevelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("variant", "warehouse", name="stock_level_once"),
            models.CheckConstraint(condition=Q(on_hand__gte=0, reserved__gte=0), name="stock_not_negative"),
        ]
        indexes = [
            models.Index("warehouse", "variant", name="stock_of_warehouse"),
            # Over the flag, not over the two counts: those move with every push, and an index whose
            # condition names them would have to be written each time.
            models.Index("id", condition=Q(overpromised=True), name="stock_overpromised"),
            BrinIndex("changed_in", pages_per_range=16, autosummarize=True, name="stock_changed_in"),
        ]

    def __str__(self) -> str:
        return f"{self.variant_id} at {self.warehouse_id}: {self.on_hand} ({self.reserved} reserved)"

    def count(self, on_hand: int, *, by: Actor) -> bool:
        """Set what is on hand, as somebody counted it; return whether that changed anything."""
        with transaction.atomic():
            self.refresh_from_db(from_queryset=StockLevel.objects.select_for_update())
            before = self.on_hand
            if before == on_hand:
                return False
            self.on_hand, self.counted_at, self.updated_at = on_hand, Now(), Now()
            self.save(update_fields=["on_hand", "counted_at", "updated_at"])
            told = {
                "warehouse_id": self.warehouse_id,
                "variant_id": self.variant_id,
                "on_hand": {"from": before, "to": on_hand},
            }
            record("inventory.updated", by=by, area="inventory", supplier=self.warehouse.supplier, data=told)
            beat_after_commit()
        self.refresh_from_db()
        return True
